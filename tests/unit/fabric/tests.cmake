lull_unit_test(fabric fabric/amo_test.cpp fabric/heap_test.cpp fabric/protocol_test.cpp fabric/rdma_test.cpp fabric/transforming_test.cpp)
set_source_files_properties(fabric/rdma_test.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
