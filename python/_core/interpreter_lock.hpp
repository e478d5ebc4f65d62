// Python's lock, given up for long work and taken again, also by a thread that outlives the interpreter.
//
// A daemon thread may come back from long work when the interpreter has ended. Python's own calls then end the thread
// by unwinding its stack, which C++ answers with std::terminate: the whole process aborts after its last line. Here
// such a thread stays where it is until the process has ended.
#pragma once

#include <Python.h>

namespace lull::python {

// From construction to destruction, this thread does without the lock.
class unlocked {
 public:
  unlocked();
  ~unlocked();
  unlocked(const unlocked&) = delete;
  unlocked& operator=(const unlocked&) = delete;

 private:
  PyThreadState* state_;
};

// From construction to destruction, any thread has the lock, for a call from long work back into Python.
class locked {
 public:
  locked();
  ~locked();
  locked(const locked&) = delete;
  locked& operator=(const locked&) = delete;

 private:
  PyGILState_STATE state_;
};

// To be called once, when the module is loaded: the end of the interpreter will be noticed.
void notice_the_end();

}  // namespace lull::python
