# Writes OUTPUT, a linker script that gives each function shmem_NAME of ARCHIVE a second name, pshmem_NAME.
execute_process(COMMAND ${NM} --defined-only --extern-only ${ARCHIVE} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " T shmem_[A-Za-z0-9_]+" functions "${symbols}")
list(TRANSFORM functions REPLACE " T (.+)" "p\\1 = \\1")
list(JOIN functions ";\n" script)
file(WRITE ${OUTPUT} "${script};\n")
