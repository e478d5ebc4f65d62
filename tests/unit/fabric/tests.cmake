find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
lull_unit_test(fabric fabric/heap_test.cpp fabric/layout_test.cpp fabric/remote_test.cpp fabric/segment_test.cpp fabric/update_test.cpp)
# fabric/wait/, a room of its own within that library
lull_unit_test(wait fabric/doorbell_test.cpp fabric/frequency_test.cpp fabric/history_test.cpp fabric/policy_test.cpp
               fabric/relax_test.cpp fabric/statistics_test.cpp fabric/waiting_test.cpp)
target_link_libraries(test_wait PRIVATE lull_fabric lull_meter)  # lull_meter: for the trees of its tests
target_compile_definitions(test_wait PRIVATE
  LULL_FIXTURE_WRITER="${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/fixtures/make_sysfs_fixtures.py")
