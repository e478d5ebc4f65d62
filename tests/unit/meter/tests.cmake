find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
lull_unit_test(meter meter/accumulator_test.cpp meter/power_integral_test.cpp meter/powercap_test.cpp meter/net_test.cpp
               meter/estimate_test.cpp meter/site_test.cpp meter/sources_test.cpp meter/tools_test.cpp
               meter/replay_test.cpp meter/still_counters_test.cpp meter/choice_test.cpp meter/totals_test.cpp
               meter/sampler_test.cpp meter/printed_quantity_test.cpp)
target_link_libraries(test_meter PRIVATE nlohmann_json::nlohmann_json Threads::Threads)
target_compile_definitions(test_meter PRIVATE
  LULL_FIXTURE_WRITER="'${Python_EXECUTABLE}' '${PROJECT_SOURCE_DIR}/tests/fixtures/make_sysfs_fixtures.py'")
# Small libraries in the place of the vendors'.
foreach(library nvml rocm_smi)
  add_library(fake_${library} MODULE EXCLUDE_FROM_ALL meter/fakes/fake_${library}.cpp)
  target_link_libraries(fake_${library} PRIVATE lull_test_flags nlohmann_json::nlohmann_json)
  add_dependencies(test_meter fake_${library})
endforeach()
target_compile_definitions(test_meter PRIVATE LULL_FAKE_NVML="$<TARGET_FILE:fake_nvml>"
                                              LULL_FAKE_ROCM="$<TARGET_FILE:fake_rocm_smi>")
set_source_files_properties(meter/power_integral_test.cpp meter/sources_test.cpp meter/still_counters_test.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
