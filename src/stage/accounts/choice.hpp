// What the model (model/costs/output.hpp) says of a job: who should write its output, before it runs, and who should have, after.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "model/choices/account.hpp"
#include "stage/accounts/figures.hpp"
#include "stage/accounts/plan.hpp"

namespace lull::stage {

// The plan with an approach where it leaves that to the model: of this many processes on so many nodes, for a simulation of which
// nothing is known. The same on every process: the machine is that of LULL_MACHINE only where this does not stand for another file on
// another host.
[[nodiscard]] plan chosen(const plan& wanted, std::span<const std::string> nodes_by_rank);

// A line of the table at the end: which approach would have been best on the same cores, and by how much. Empty where the run
// had too little output to say so.
[[nodiscard]] std::string advice_of(const plan& how, const job_figures& run);

// What choices have come to: `hand-over`, and `approach`, each of whose alternatives is predicted for the run as it was.
[[nodiscard]] std::vector<model::choice_account> accounts_of(const plan& how, const job_figures& run);

}  // namespace lull::stage
