find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
lull_unit_test(wait wait/completion_flag_test.cpp wait/doorbell_test.cpp wait/frequency_test.cpp wait/history_test.cpp wait/policy_test.cpp
               wait/public_waits_test.cpp
               wait/relax_test.cpp wait/statistics_test.cpp wait/waiting_test.cpp)
target_link_libraries(test_wait PRIVATE lull_meter)  # for the trees of its tests
target_compile_definitions(test_wait PRIVATE
  LULL_FIXTURE_WRITER="'${Python_EXECUTABLE}' '${PROJECT_SOURCE_DIR}/tests/fixtures/make_sysfs_fixtures.py'")
set_source_files_properties(wait/policy_test.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
