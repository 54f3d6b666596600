// SPDX-License-Identifier: BSD-3-Clause

package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/invasive/internal/guests"
)

// A Peer is the process at the other end of a Unix socket, as it was when it connected.
type Peer struct {
	PID int
	UID uint32
}

// PeerOf asks the kernel who connected (SO_PEERCRED).
func PeerOf(c *net.UnixConn) (Peer, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return Peer{}, err
	}
	var cred *unix.Ucred
	err = errors.Join(raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}), err)
	if err != nil {
		return Peer{}, err
	}
	return Peer{int(cred.Pid), cred.Uid}, nil
}

// A PeerProcess is the process that has connected, and no other that gets its number later.
type PeerProcess struct{ fd int }

// OpenPeer holds on to the process that has connected (SO_PEERPIDFD). Before Linux 6.5 it is
// the one that has its number now: ask right after the connection was accepted. The error is
// ESRCH if it has ended.
func OpenPeer(c *net.UnixConn, p Peer) (*PeerProcess, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd := -1
	err = errors.Join(raw.Control(func(conn uintptr) {
		fd, err = unix.GetsockoptInt(int(conn), unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	}), err)
	if errors.Is(err, unix.ENOPROTOOPT) {
		fd, err = unix.PidfdOpen(p.PID, 0)
	}
	if err != nil {
		return nil, peerError(err)
	}
	return &PeerProcess{fd}, nil
}

// peerError is ESRCH for what the kernel says of a process that has ended and was waited for.
// SO_PEERPIDFD says so in another way from release to release: EINVAL from Linux 6.5 to about 6.14.
func peerError(err error) error {
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENODATA) {
		return unix.ESRCH
	}
	return err
}

// Ended tells whether the process has ended, if it is still a zombie too; an error of the
// kernel's counts as an end.
func (p *PeerProcess) Ended() bool {
	poll := []unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}
	for {
		if n, err := unix.Poll(poll, 0); err != unix.EINTR {
			return n != 0 || err != nil
		}
	}
}

// Close lets go of it.
func (p *PeerProcess) Close() error { return unix.Close(p.fd) }

func checkPeer(c net.Conn, users []uint32) error {
	p, err := PeerOf(c.(*net.UnixConn))
	if err != nil {
		return err
	}
	return allowed(users, p.UID)
}

func (e Endpoint) listenUnix(clock Clock, stats *Stats) (*Listener, error) {
	from, cleanup, err := ListenUnix(e.Address, e.Users)
	if err != nil {
		return nil, err
	}
	l := newListener(from, clock, stats, cleanup)
	l.check = func(g *guests.Guest) (net.Conn, error) { return g.Conn, checkPeer(g.Conn, e.Users) }
	l.start()
	return l, nil
}

// ListenUnix makes a Unix socket for some users, see [Endpoint.Listen]. It doesn't look at who
// connects: see [PeerOf]. Cleanup, after the close, removes it.
func ListenUnix(path string, users []uint32) (from *net.UnixListener, cleanup func() error, err error) {
	dirMode, mode := os.FileMode(0o700), os.FileMode(0o600)
	for _, u := range users {
		if u != 0 && u != uint32(os.Geteuid()) {
			dirMode, mode = 0o711, 0o666
		}
	}
	dir, err := openOwnDir(filepath.Dir(path), dirMode)
	if err != nil {
		return nil, nil, fmt.Errorf("socket %s: %w", path, err)
	}
	defer dir.Close()
	lock, err := LockFile(path + ".lock")
	if err != nil {
		return nil, nil, fmt.Errorf("socket %s: %w", path, err)
	}
	if from, err = bindIn(dir, filepath.Base(path), mode); err != nil {
		lock.Close()
		return nil, nil, fmt.Errorf("socket %s: %w", path, err)
	}
	return from, func() error { return errors.Join(os.Remove(path), lock.Close()) }, nil
}

// bindIn binds a name in a directory that is open, so that nobody can change what the path leads
// to. It is called under the name's lock: a socket that is there belongs to nobody. The directory
// keeps others out, or those who get in are looked at one by one, so that the mode needs no care in
// the moment before it is set.
func bindIn(dir *os.File, name string, mode os.FileMode) (*net.UnixListener, error) {
	var st unix.Stat_t
	err := unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW)
	switch {
	case err == nil && st.Mode&unix.S_IFMT != unix.S_IFSOCK:
		return nil, errors.New("there is something else in its place")
	case err == nil:
		err = unix.Unlinkat(int(dir.Fd()), name, 0)
	case errors.Is(err, unix.ENOENT):
		err = nil
	}
	if err != nil {
		return nil, err
	}
	// also short enough for an address
	inDir := "/proc/self/fd/" + strconv.Itoa(int(dir.Fd())) + "/" + name
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: inDir, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err := os.Chmod(inDir, mode); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// openOwnDir opens a directory that only this user, or root, can change; it makes
// it if it isn't there.
func openOwnDir(path string, mode os.FileMode) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	err := os.Mkdir(path, mode)
	made := err == nil
	if err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	fd, err := unix.Open(path, unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("directory %s: %w", path, err)
	}
	dir := os.NewFile(uintptr(fd), path)
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && made {
		err = dir.Chmod(mode) // whatever the umask
	}
	switch {
	case err != nil:
	case st.Uid != 0 && st.Uid != uint32(os.Geteuid()):
		err = fmt.Errorf("directory %s belongs to user %d", path, st.Uid)
	case !made && os.FileMode(st.Mode)&0o777&^mode != 0:
		err = fmt.Errorf("directory %s has mode %#o, more than %#o", path, st.Mode&0o777, mode)
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

// CheckDir makes a directory that only this user, or root, can change, or looks that it is one. Its
// mode is this one, or less.
func CheckDir(path string, mode os.FileMode) error {
	dir, err := openOwnDir(path, mode)
	if err != nil {
		return err
	}
	return dir.Close()
}

func (e Endpoint) dialUnix(ctx context.Context) (net.Conn, error) {
	c, err := DialUnix(ctx, e.Address)
	if err != nil {
		return nil, err
	}
	if err = checkPeer(c, e.Users); err != nil {
		c.Close()
		return nil, fmt.Errorf("socket %s: %w", e.Address, err)
	}
	return c, nil
}

// DialUnix connects to a path of any length.
func DialUnix(ctx context.Context, path string) (*net.UnixConn, error) {
	fd, err := unix.Open(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("socket %s: %w", path, err)
	}
	defer unix.Close(fd)
	short := fmt.Sprintf("/proc/self/fd/%d/%s", fd, filepath.Base(path))
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", short)
	if err != nil {
		return nil, fmt.Errorf("socket %s: %w", path, err)
	}
	return c.(*net.UnixConn), nil
}
