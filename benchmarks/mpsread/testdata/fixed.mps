NAME          FIXED
ROWS
 N  COST
 L  LIM1
 L  LIM2
COLUMNS
    MARKER                 'MARKER'                 'INTORG'
    COL00001  COST              -8.0   LIM1               1.0
    COL00001  LIM2               1.0
    COL00002  COST              -9.0   LIM1               2.0
    COL00002  LIM2               1.0
    COL00003  COST              -4.5   LIM1               1.0
    MARKER                 'MARKER'                 'INTEND'
RHS
    RHS       LIM1               2.0   LIM2               1.0
BOUNDS
 UP BND       COL00001           1.0
 UP BND       COL00002           1.0
 UP BND       COL00003           1.0
ENDATA
