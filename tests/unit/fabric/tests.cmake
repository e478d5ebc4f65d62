lull_unit_test(fabric fabric/heap_test.cpp fabric/remote_test.cpp fabric/update_test.cpp)
