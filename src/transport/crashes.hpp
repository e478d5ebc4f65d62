// A PE that crashes dies of the signal, as any program does, and its launcher says so in one line. UCX would print a
// page of its own in between, with addresses in itself; whoever wants that sets UCX_HANDLE_ERRORS.
#pragma once

namespace lull::transport {

// Takes UCX's handlers of SIGSEGV and its kind away. Handlers of the program itself stay.
void leave_crashes_to_the_program();

}  // namespace lull::transport
