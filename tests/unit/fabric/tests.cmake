find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
lull_unit_test(fabric fabric/doorbell_test.cpp fabric/frequency_test.cpp fabric/heap_test.cpp fabric/history_test.cpp
               fabric/layout_test.cpp fabric/policy_test.cpp fabric/relax_test.cpp fabric/remote_test.cpp fabric/segment_test.cpp
               fabric/statistics_test.cpp fabric/update_test.cpp fabric/waiting_test.cpp)
target_link_libraries(test_fabric PRIVATE lull_meter)  # for the trees of its tests
target_compile_definitions(test_fabric PRIVATE
  LULL_FIXTURE_WRITER="${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/fixtures/make_sysfs_fixtures.py")
