find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
lull_unit_test(meter meter/accumulator_test.cpp meter/powercap_test.cpp meter/net_test.cpp meter/estimate_test.cpp
               meter/choice_test.cpp meter/sampler_test.cpp meter/regions_test.cpp)
target_link_libraries(test_meter PRIVATE nlohmann_json::nlohmann_json Threads::Threads)
target_compile_definitions(test_meter PRIVATE
  LULL_FIXTURE_WRITER="${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/fixtures/make_sysfs_fixtures.py")
