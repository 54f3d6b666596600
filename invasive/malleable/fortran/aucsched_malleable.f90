! SPDX-License-Identifier: BSD-3-Clause
!
! A job's side of the lines between a running job and aucsched, for jobs in Fortran 2003: over
! aucsched_malleable.c, which is to be compiled and linked too. Copy both, and the C header, into
! your program.
!
!  type(aucsched_job) :: job
!  type(aucsched_change) :: change
!  integer :: status
!
!  call aucsched_open(job, status)
!  do while (work_is_left())
!    call work_for_a_while()            ! then, where it is safe:
!    if (status /= 0) cycle             ! nobody runs us who could change our cores
!    if (aucsched_poll(job, 0, change)) then
!      call use_cores(change%cores)     ! and let go of all others
!      call aucsched_done(job, change)
!    end if
!  end do
!  if (status == 0) call aucsched_close(job)
!
! A job must not be assigned to another one. Nothing here is safe for concurrent use: one thread
! has to do it all, or all under one lock.
module aucsched_malleable
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: aucsched_job, aucsched_change
  public :: aucsched_open, aucsched_poll, aucsched_done, aucsched_keep, aucsched_want, aucsched_close

  ! struct aucsched_job
  type, bind(C) :: c_job
    integer(c_int) :: fd, session
    integer(c_int32_t) :: want
    integer(c_int64_t) :: retry_ms
    type(c_ptr) :: buf
    integer(c_size_t) :: len, cap
    character(kind=c_char) :: path(4096)
  end type

  ! struct aucsched_change
  type, bind(C) :: c_change
    integer(c_int32_t) :: number
    integer(c_int) :: session
    integer(c_size_t) :: ncores, ncpus
    type(c_ptr) :: cores, cpus
  end type

  ! A connection, which is made again when it breaks.
  type :: aucsched_job
    private
    type(c_job) :: c
  end type

  ! What the job may use from now on, once it has answered.
  type :: aucsched_change
    integer(c_int64_t) :: number = 0
    integer, allocatable :: cores(:) ! of the partition, or places of a crew, ascending
    integer, allocatable :: cpus(:)  ! of this host, ascending; of a crew: places again
    type(c_change), private :: c
  end type

  interface
    function c_open(job) bind(C, name='aucsched_open')
      import :: c_job, c_int
      type(c_job), intent(inout) :: job
      integer(c_int) :: c_open
    end function
    function c_poll(job, timeout_ms, change) bind(C, name='aucsched_poll')
      import :: c_job, c_change, c_int
      type(c_job), intent(inout) :: job
      integer(c_int), value :: timeout_ms
      type(c_change), intent(inout) :: change
      integer(c_int) :: c_poll
    end function
    subroutine c_done(job, change) bind(C, name='aucsched_done')
      import :: c_job, c_change
      type(c_job), intent(inout) :: job
      type(c_change), intent(in) :: change
    end subroutine
    subroutine c_keep(job, change, why) bind(C, name='aucsched_keep')
      import :: c_job, c_change, c_char
      type(c_job), intent(inout) :: job
      type(c_change), intent(in) :: change
      character(kind=c_char), intent(in) :: why(*)
    end subroutine
    subroutine c_want(job, cores) bind(C, name='aucsched_want')
      import :: c_job, c_int32_t
      type(c_job), intent(inout) :: job
      integer(c_int32_t), value :: cores
    end subroutine
    subroutine c_free(change) bind(C, name='aucsched_free')
      import :: c_change
      type(c_change), intent(inout) :: change
    end subroutine
    subroutine c_close(job) bind(C, name='aucsched_close')
      import :: c_job
      type(c_job), intent(inout) :: job
    end subroutine
  end interface

contains

  ! Finds by the environment who runs the job, and connects. The status is 0, or -1 if nobody runs
  ! this program who could change what it has. If it can't connect now, aucsched_poll does it later.
  subroutine aucsched_open(job, status)
    type(aucsched_job), intent(inout) :: job
    integer, intent(out) :: status
    status = c_open(job%c)
  end subroutine

  ! Waits up to timeout_ms (-1: for ever) for a change, and is true if change has one: of several
  ! the newest. It makes a broken connection again, not more often than every half a second. Without
  ! memory for a change it does that too: the next connection begins with the change.
  logical function aucsched_poll(job, timeout_ms, change)
    type(aucsched_job), intent(inout) :: job
    integer, intent(in) :: timeout_ms
    type(aucsched_change), intent(inout) :: change
    type(c_change) :: c, answered
    integer(c_int) :: got
    got = c_poll(job%c, int(timeout_ms, c_int), c)
    aucsched_poll = got == 1
    if (.not. aucsched_poll) return
    change%number = c%number
    if (change%number < 0) change%number = change%number + 4294967296_c_int64_t
    call copy(c%cores, c%ncores, change%cores)
    call copy(c%cpus, c%ncpus, change%cpus)
    answered%number = c%number
    answered%session = c%session
    answered%ncores = 0
    answered%ncpus = 0
    answered%cores = c_null_ptr
    answered%cpus = c_null_ptr
    change%c = answered
    call c_free(c)
  end function

  subroutine copy(from, n, to)
    type(c_ptr), intent(in) :: from
    integer(c_size_t), intent(in) :: n
    integer, allocatable, intent(inout) :: to(:)
    integer(c_int), pointer :: list(:)
    call c_f_pointer(from, list, [n])
    if (allocated(to)) deallocate (to)
    allocate (to(n))
    to = list
  end subroutine

  ! Says that the job uses nothing but what the change names any more.
  subroutine aucsched_done(job, change)
    type(aucsched_job), intent(inout) :: job
    type(aucsched_change), intent(in) :: change
    call c_done(job%c, change%c)
  end subroutine

  ! Says that the job can't let go of what the change would take; of why 200 characters are sent.
  subroutine aucsched_keep(job, change, why)
    type(aucsched_job), intent(inout) :: job
    type(aucsched_change), intent(in) :: change
    character(len=*), intent(in) :: why
    character(kind=c_char) :: text(len_trim(why) + 1)
    integer :: i
    do i = 1, len_trim(why)
      text(i) = why(i:i)
    end do
    text(len_trim(why) + 1) = c_null_char
    call c_keep(job%c, change%c, text)
  end subroutine

  ! Wishes to have so many cores in all, from 1. A crew doesn't listen to it.
  subroutine aucsched_want(job, cores)
    type(aucsched_job), intent(inout) :: job
    integer, intent(in) :: cores
    call c_want(job%c, int(max(cores, 0), c_int32_t))
  end subroutine

  ! Ends the connection.
  subroutine aucsched_close(job)
    type(aucsched_job), intent(inout) :: job
    call c_close(job%c)
  end subroutine

end module
