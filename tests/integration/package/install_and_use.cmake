# cmake -D BUILD_DIR= -D CONFIG= -D EXAMPLE_DIR= -D SCRATCH= -D GENERATOR= -D CXX= -D VERSION= -P install_and_use.cmake
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "${command}\nended with ${code}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --config ${CONFIG} --prefix ${SCRATCH}/prefix)
run(${CMAKE_COMMAND} -S ${EXAMPLE_DIR} -B ${SCRATCH}/build -G ${GENERATOR} -D CMAKE_BUILD_TYPE=${CONFIG}
    -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_PREFIX_PATH=${SCRATCH}/prefix)
run(${CMAKE_COMMAND} --build ${SCRATCH}/build)
# They write their files where they run.
function(run_example name expected)
  execute_process(COMMAND ${SCRATCH}/build/${name} WORKING_DIRECTORY ${SCRATCH} OUTPUT_VARIABLE output
                  ERROR_VARIABLE output RESULT_VARIABLE code)
  message(STATUS "${name}: ${output}")
  if(NOT code EQUAL 0 OR NOT output MATCHES "${expected}")
    message(FATAL_ERROR "the example '${name}' ended with ${code} and did not print '${expected}':\n${output}")
  endif()
endfunction()
run_example(learn "gpilot ${VERSION}")
run_example(explore "after 20 measurements")
run_example(study "6 measurements in tank.study")
run_example(study "12 measurements in tank.study")
