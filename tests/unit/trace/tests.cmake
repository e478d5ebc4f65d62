set(files trace/recorder_test.cpp trace/functions_test.cpp trace/replay_test.cpp trace/clocks_test.cpp
          trace/analysis_test.cpp trace/folding_test.cpp trace/merging_test.cpp)
if(TARGET lull_trace_otf2)
  list(APPEND files trace/archive_test.cpp trace/foreign_archive_test.cpp)
endif()
lull_unit_test(trace ${files})
target_link_libraries(test_trace PRIVATE $<TARGET_NAME_IF_EXISTS:lull_trace_otf2> nlohmann_json::nlohmann_json)

# Folds recorded files, for tests of folded traces in Python.
add_executable(fold_records EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/fold_records.cpp)
target_link_libraries(fold_records PRIVATE lull_flags lull_trace)
add_dependencies(tests fold_records)
