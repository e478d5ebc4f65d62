set(files trace/recorder_test.cpp trace/functions_test.cpp trace/replay_test.cpp trace/clocks_test.cpp
          trace/analysis_test.cpp trace/folding_test.cpp)
if(TARGET lull_trace_otf2)
  list(APPEND files trace/archive_test.cpp trace/foreign_archive_test.cpp)
endif()
lull_unit_test(trace ${files})
target_link_libraries(test_trace PRIVATE $<TARGET_NAME_IF_EXISTS:lull_trace_otf2> nlohmann_json::nlohmann_json)
