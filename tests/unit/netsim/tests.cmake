lull_unit_test(netsim netsim/topology_test.cpp netsim/ways_test.cpp)
