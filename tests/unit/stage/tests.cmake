lull_unit_test(stage stage/plan_test.cpp stage/roles_test.cpp)
