// The model's (model/costs/output.hpp) choice of an approach before a job runs, and its judgement afterwards.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "model/choices/account.hpp"
#include "stage/accounts/figures.hpp"
#include "stage/accounts/plan.hpp"

namespace lull::stage {

// Completes a plan that leaves the approach to the model, for this many processes on these nodes and a simulation of
// which nothing is known. The result is the same on every process: the machine is that of LULL_MACHINE only where this
// does not name a different file on each host.
[[nodiscard]] plan chosen(const plan& wanted, std::span<const std::string> nodes_by_rank);

// A line of the table at the end: the approach that would have been best on the same cores, and by how much. Empty if
// the run had too little output for an answer.
[[nodiscard]] std::string advice_of(const plan& how, const job_figures& run);

// The outcome of the choices `hand-over` and `approach`; each alternative is predicted for the run as it was.
[[nodiscard]] std::vector<model::choice_account> accounts_of(const plan& how, const job_figures& run);

}  // namespace lull::stage
