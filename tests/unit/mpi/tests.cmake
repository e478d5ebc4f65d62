lull_unit_test(mpi mpi/bells_test.cpp mpi/call_sites_test.cpp mpi/epochs_test.cpp mpi/idle_loop_test.cpp mpi/loop_probe_test.cpp mpi/node_of_job_test.cpp
               mpi/rare_event_test.cpp)
target_link_libraries(test_mpi PRIVATE lull_mpi_waiting)
find_path(LIBFABRIC_HEADERS rdma/fi_eq.h)
if(LIBFABRIC_HEADERS)
  target_sources(test_mpi PRIVATE mpi/libfabric_test.cpp)
endif()
