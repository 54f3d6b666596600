// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Accounting is what a cluster's slurmdbd knows, and what slurmctld makes of it. Limits
// are written as sacctmgr takes them: "GrpTRES=cpu=64 MaxJobs=3".
type Accounting struct {
	Enforce  string    // AccountingStorageEnforce; associations,limits,qos,safe unless set
	TRES     string    // AccountingStorageTRES: "gres/gpu,gres/gpu:a100"
	QOS      []QOS     // beside normal; every account may use all of them
	Accounts []Account // beside root's own
}

// QOS is a quality of service, with limits such as "MaxTRESPU=cpu=8".
type QOS struct{ Name, Limits string }

// Account is an account with its users. A user's first account is his default one.
type Account struct {
	Name, Limits string
	Users        []User
}

// User is a user of this machine, in an account. The limits are those of the association.
type User struct{ Name, Limits string }

func (a *Accounting) enforce() string {
	if a.Enforce == "" {
		return "associations,limits,qos,safe"
	}
	return a.Enforce
}

var (
	plainName  = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)
	plainLimit = regexp.MustCompile(`^[A-Za-z]+=[A-Za-z0-9_=,:/.+-]+$`)
)

// check refuses what would be something else in a file for sacctmgr.
func (a *Accounting) check() error {
	check := func(name, limits string) error {
		if !plainName.MatchString(name) {
			return fmt.Errorf("slurmtest: accounting: %q is no name", name)
		}
		for _, l := range strings.Fields(limits) {
			if !plainLimit.MatchString(l) {
				return fmt.Errorf("slurmtest: accounting: %s: %q is no limit", name, l)
			}
		}
		return nil
	}
	var errs []error
	for _, q := range a.QOS {
		errs = append(errs, check(q.Name, q.Limits))
	}
	for _, account := range a.Accounts {
		errs = append(errs, check(account.Name, account.Limits))
		for _, u := range account.Users {
			errs = append(errs, check(u.Name, u.Limits))
		}
	}
	return errors.Join(errs...)
}

// file is what "sacctmgr load" reads: the cluster, its accounts and their users.
func (a *Accounting) file() string {
	var b strings.Builder
	qos := []string{"normal"}
	for _, q := range a.QOS {
		qos = append(qos, q.Name)
	}
	fmt.Fprintf(&b, "Cluster - 'slurmtest':QOS='%s'\nParent - 'root'\n", strings.Join(qos, ","))
	for _, account := range a.Accounts {
		fmt.Fprintln(&b,
			join(":", fmt.Sprintf("Account - '%s':Description='%[1]s':Organization='slurmtest'", account.Name),
				quoteLimits(account.Limits)))
	}
	first := map[string]string{}
	for _, account := range a.Accounts {
		fmt.Fprintf(&b, "Parent - '%s'\n", account.Name)
		for _, u := range account.Users {
			if first[u.Name] == "" {
				first[u.Name] = account.Name
			}
			fmt.Fprintln(&b, join(":", fmt.Sprintf("User - '%s':DefaultAccount='%s'", u.Name, first[u.Name]), quoteLimits(u.Limits)))
		}
	}
	return b.String()
}

// quoteLimits writes limits for "sacctmgr load", where a colon ends an unquoted value.
func quoteLimits(limits string) string {
	var out []string
	for _, l := range strings.Fields(limits) {
		key, value, _ := strings.Cut(l, "=")
		out = append(out, fmt.Sprintf("%s='%s'", key, value))
	}
	return strings.Join(out, ":")
}

// startAccounting starts the database and slurmdbd, and tells it of the accounts.
func (c *Cluster) startAccounting(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(c.stock, "accounting_storage_mysql.so")); err != nil {
		return &ErrMissing{"slurmdbd has no accounting_storage_mysql.so (Debian: apt-get install slurm-wlm-mysql-plugin)"}
	}
	if err := c.makeDatabase(ctx); err != nil {
		return err
	}
	socket := c.path("db", "socket")
	if err := c.startAndWait(ctx, "mariadbd", nil, func() error {
		_, err := os.Stat(socket)
		return err
	}, "mariadbd", "--defaults-file="+c.path("my.cnf")); err != nil {
		return err
	}
	// Its library takes another socket from the environment alone.
	env := append(slices.Clone(c.cfg.DaemonEnv), "MYSQL_UNIX_PORT="+socket)
	if err := c.startAndWait(ctx, "slurmdbd", env, func() error {
		_, err := c.Sacctmgr(ctx, "-n", "show", "cluster")
		return err
	}, "slurmdbd", "-D"); err != nil {
		return err
	}
	for _, q := range c.cfg.Accounting.QOS {
		if _, err := c.Sacctmgr(ctx, append([]string{"add", "qos", q.Name}, strings.Fields(q.Limits)...)...); err != nil {
			return err
		}
	}
	if err := os.WriteFile(c.path("accounts"), []byte(c.cfg.Accounting.file()), 0o644); err != nil {
		return err
	}
	out, err := c.Sacctmgr(ctx, "load", c.path("accounts"))
	if err == nil && strings.Contains(out, "Bad format") {
		err = fmt.Errorf("sacctmgr load: %s", out)
	}
	return err
}

// startAndWait starts a daemon and waits until it is ready.
func (c *Cluster) startAndWait(ctx context.Context, name string, env []string, ready func() error, argv ...string) error {
	d, err := c.launch(name, env, argv...)
	if err != nil {
		return err
	}
	c.daemons = append(c.daemons, d)
	var last error
	err = c.poll(ctx, 30*time.Second, name+" to be ready", func() (bool, error) {
		if d.exited() {
			return false, d.ended()
		}
		last = ready()
		return last == nil, nil
	})
	if err != nil {
		return errors.Join(err, last)
	}
	return nil
}

// mariadbConf is a MariaDB for one cluster. It listens on a socket only, and leaves it to the
// kernel when its files reach the disk: they do not outlive the cluster. A server that starts
// removes the temporary tables of others, if they share a directory.
const mariadbConf = `[mariadbd]
datadir=%[1]s
tmpdir=%[1]s.tmp
socket=%[1]s/socket
pid-file=%[1]s/pid
skip-networking
skip-log-bin
performance_schema=off
innodb_log_file_size=4M
innodb_buffer_pool_size=32M
innodb_flush_log_at_trx_commit=0
innodb_flush_method=nosync
innodb_doublewrite=0
innodb_lock_wait_timeout=900
init-file=%[1]s.sql
`

// databaseSQL has the database made before slurmdbd asks for it. slurmdbd would make it too, but
// with some versions of its library a connection that has failed once is of no use.
const databaseSQL = "CREATE DATABASE IF NOT EXISTS slurm_acct;\n"

const slurmdbdConf = `%[4]sDbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=%[2]d
SlurmUser=%[3]s
LogFile=%[1]s/log/slurmdbd.log
PidFile=%[1]s/db/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=%[3]s
StorageLoc=slurm_acct
`

// slurmdbdAuth is how slurmdbd knows who asks. With auth/none the fast clock may be its own too:
// see [Config.DaemonEnv].
func (c *Cluster) slurmdbdAuth() string {
	if c.cfg.NoAuth {
		return "AuthType=auth/none\nMessageTimeout=65535\nTCPTimeout=65535\n"
	}
	return fmt.Sprintf("AuthType=auth/munge\nAuthInfo=socket=%s/munge/socket\n", c.Dir)
}

// makeDatabase makes an empty database. SlurmUser is its administrator, by who he is
// on the socket, so that there is no password.
func (c *Cluster) makeDatabase(ctx context.Context) error {
	as, err := accountOf(c.cfg.SlurmUser)
	if err != nil {
		return err
	}
	own := func(path string) error { return os.Chown(path, int(as.uid), int(as.gid)) }
	dbd := c.path("slurmdbd.conf")
	if err := errors.Join(
		os.Mkdir(c.path("db"), 0o700), own(c.path("db")), os.Mkdir(c.path("db.tmp"), 0o700), own(c.path("db.tmp")),
		os.WriteFile(c.path("my.cnf"), fmt.Appendf(nil, mariadbConf, c.path("db")), 0o644),
		os.WriteFile(c.path("db.sql"), []byte(databaseSQL), 0o644),
		os.WriteFile(dbd, fmt.Appendf(nil, slurmdbdConf, c.Dir, c.cfg.accountingPort(c.Port), c.cfg.SlurmUser,
			c.slurmdbdAuth()), 0o600), own(dbd),
	); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, c.programs["mariadb-install-db"], "--defaults-file="+c.path("my.cnf"), "--skip-test-db",
		"--auth-root-authentication-method=socket", "--auth-root-socket-user="+c.cfg.SlurmUser)
	cmd.Dir, cmd.Env = c.path("db"), c.environ()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	asUser(cmd.SysProcAttr, as)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("mariadb-install-db: %w: %s", err, out)
	}
	return nil
}

// Sacctmgr runs sacctmgr, without asking, and returns its standard output.
func (c *Cluster) Sacctmgr(ctx context.Context, args ...string) (string, error) {
	return c.run(ctx, 0, "", slices.Concat([]string{"sacctmgr", "-i"}, args)...)
}
