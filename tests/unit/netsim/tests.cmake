lull_unit_test(netsim netsim/topology_test.cpp netsim/paths_test.cpp netsim/topology_metrics_test.cpp netsim/parameters_test.cpp netsim/description_test.cpp
               netsim/windows_test.cpp netsim/link_power_test.cpp netsim/queueing_test.cpp
               netsim/conservation_test.cpp netsim/latency_test.cpp netsim/deadlock_test.cpp
               netsim/models_test.cpp netsim/busy_test.cpp netsim/saturation_test.cpp)
# It walks all paths of large networks: not optimised it would take longer than the optimiser does.
set_source_files_properties(netsim/paths_test.cpp PROPERTIES
                            COMPILE_OPTIONS "$<$<CONFIG:Release>:-O1>" SKIP_PRECOMPILE_HEADERS ON)
