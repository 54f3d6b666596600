NAME tiny
OBJSENSE
 MAX
ROWS
 N obj
 E g0_
 L g0
COLUMNS
 M0 'MARKER' 'INTORG'
 a obj 50
 a g0_ 1
 a g0 2
 b obj 45
 b g0_ 1
 c obj 30
 c g0 1
 M1 'MARKER' 'INTEND'
RHS
 RHS g0_ 1
 RHS g0 2
BOUNDS
 UP BND a 1
 UP BND b 1
 UP BND c 1
ENDATA
