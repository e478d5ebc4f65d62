lull_unit_test(fabric fabric/doorbell_test.cpp fabric/heap_test.cpp fabric/layout_test.cpp fabric/policy_test.cpp
               fabric/segment_test.cpp fabric/update_test.cpp)
