lull_unit_test(stage stage/choice_test.cpp stage/figures_test.cpp stage/handing_over_test.cpp stage/idle_frequency_test.cpp stage/plan_test.cpp
               stage/roles_test.cpp stage/storage_limit_test.cpp stage/whole_file_test.cpp)
target_link_libraries(test_stage PRIVATE lull_meter nlohmann_json::nlohmann_json)  # the meter for the tree of a test
target_compile_definitions(test_stage PRIVATE
  LULL_FIXTURE_WRITER="${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/fixtures/make_sysfs_fixtures.py")
