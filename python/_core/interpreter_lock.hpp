// Releases Python's lock for long work and takes it again, even in a thread that outlives the interpreter.
//
// A daemon thread may return from long work after the interpreter has ended. Python's own calls then end the thread by
// unwinding its stack, which leads to std::terminate in C++: the whole process aborts after its last line. With these
// classes such a thread blocks until the process has ended.
#pragma once

#include <Python.h>

namespace lull::python {

// Releases the lock from construction to destruction.
class unlocked {
 public:
  unlocked();
  ~unlocked();
  unlocked(const unlocked&) = delete;
  unlocked& operator=(const unlocked&) = delete;

 private:
  PyThreadState* state_;
};

// Holds the lock from construction to destruction, in any thread, for a callback from long work into Python.
class locked {
 public:
  locked();
  ~locked();
  locked(const locked&) = delete;
  locked& operator=(const locked&) = delete;

 private:
  PyGILState_STATE state_;
};

// Call once, when the module is loaded: registers for the end of the interpreter.
void notice_the_end();

}  // namespace lull::python
