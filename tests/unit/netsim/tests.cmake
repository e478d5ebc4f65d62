# Of these `make test` runs a third each day (suites.cmake): together they take a minute.
set(netsim_in_turn netsim/any_simulation netsim/one_link_queue netsim/blocked presets/all_paths all/small_paths all/every_algorithm
    sizes/every_skeleton rows/every_skeleton_on_a_network layouts/every_route)
lull_unit_test(netsim netsim/topology_test.cpp netsim/paths_test.cpp netsim/topology_metrics_test.cpp netsim/parameters_test.cpp netsim/description_test.cpp
               netsim/windows_test.cpp netsim/pool_test.cpp netsim/link_power_test.cpp netsim/savings_test.cpp netsim/queueing_test.cpp
               netsim/conservation_test.cpp netsim/latency_test.cpp netsim/memory_test.cpp netsim/deadlock_test.cpp
               netsim/models_test.cpp netsim/threads_test.cpp netsim/busy_test.cpp netsim/saturation_test.cpp
               netsim/program/stream_test.cpp netsim/program/host_test.cpp netsim/program/matching_test.cpp netsim/program/collectives_test.cpp netsim/program/player_test.cpp
               netsim/program/runs_test.cpp netsim/program/together_test.cpp netsim/program/pace_test.cpp netsim/program/sampling_test.cpp netsim/tolerance/tolerance_test.cpp
               netsim/goal/goal_reader_test.cpp netsim/goal/goal_run_test.cpp netsim/goal/goal_writer_test.cpp
               netsim/skeletons/applications_test.cpp
               netsim/skeletons/on_networks_test.cpp
               netsim/skeletons/small_items_test.cpp
               netsim/traces/encoded_operations_test.cpp
               netsim/traces/conversion_test.cpp
               netsim/traces/extrapolation_test.cpp)
# It walks all paths of large networks: not optimised it would take longer than the optimiser does.
set_source_files_properties(netsim/paths_test.cpp PROPERTIES
                            COMPILE_OPTIONS "$<$<CONFIG:Release>:-O1>" SKIP_PRECOMPILE_HEADERS ON)
set_source_files_properties(netsim/program/collectives_test.cpp netsim/traces/extrapolation_test.cpp
                            PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
