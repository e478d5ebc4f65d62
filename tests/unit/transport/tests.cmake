lull_unit_test(transport transport/conformance_test.cpp)
