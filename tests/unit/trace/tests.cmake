lull_unit_test(trace trace/recorder_test.cpp)
