lull_unit_test(fabric fabric/amo_test.cpp fabric/heap_test.cpp fabric/protocol_test.cpp)
