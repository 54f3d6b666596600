// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrMissing says what this machine lacks to run a cluster. Tests skip with it.
type ErrMissing struct{ What string }

func (e *ErrMissing) Error() string { return "slurmtest: " + e.What }

// A need is a program, and Debian's package of it.
type need struct{ program, pkg string }

// needed are the programs that a cluster consists of.
var needed = []need{
	{"slurmctld", "slurmctld"}, {"slurmd", "slurmd"}, {"munged", "munge"}, {"sbatch", "slurm-client"},
	{"sh", "dash"}, {"find", "findutils"}, {"grep", "grep"},
}

// neededForAccounts is what a cluster with accounts consists of besides.
var neededForAccounts = []need{
	{"slurmdbd", "slurmdbd"}, {"sacctmgr", "slurm-client"}, {"mariadbd", "mariadb-server-core"},
	{"mariadb-install-db", "mariadb-server-core"}, {"my_print_defaults", "mariadb-client-core"},
}

// Programs finds the programs that a cluster needs; sbin directories are searched
// too. The error is an [ErrMissing].
func Programs() (map[string]string, error) { return find(needed) }

func find(needed []need) (map[string]string, error) {
	if os.Geteuid() != 0 {
		return nil, &ErrMissing{"a cluster needs root: slurmd starts jobs as their users, and device nodes are made"}
	}
	found := map[string]string{}
	var programs, packages []string
	for _, n := range needed {
		path, err := lookPath(n.program)
		if err != nil {
			programs, packages = append(programs, n.program), append(packages, n.pkg)
			continue
		}
		found[n.program] = path
	}
	if programs != nil {
		return nil, &ErrMissing{fmt.Sprintf("%s not installed (Debian: apt-get install %s)",
			strings.Join(programs, ", "), strings.Join(packages, " "))}
	}
	return found, nil
}

func lookPath(program string) (string, error) {
	path, err := exec.LookPath(program)
	for _, dir := range []string{"/usr/sbin", "/sbin", "/usr/local/sbin"} {
		if err == nil {
			break
		}
		path, err = exec.LookPath(filepath.Join(dir, program))
	}
	return path, err
}

// Version is what "slurmctld -V" says, without the name: 22.05.8.
func Version() (string, error) {
	path, err := lookPath("slurmctld")
	if err != nil {
		return "", &ErrMissing{"slurmctld not installed (Debian: apt-get install slurmctld)"}
	}
	out, err := exec.Command(path, "-V").Output()
	words := strings.Fields(string(out))
	if err != nil || len(words) < 2 {
		return "", fmt.Errorf("slurmctld -V: %q, %w", out, err)
	}
	return words[len(words)-1], nil
}

// StockPluginDir is the directory of the installed Slurm's plug-ins: below where its slurmctld is.
func StockPluginDir() (string, error) {
	daemon, err := lookPath("slurmctld")
	if err != nil {
		return "", &ErrMissing{"slurmctld not installed (Debian: apt-get install slurmctld)"}
	}
	behind, err := filepath.EvalSymlinks(daemon)
	if err != nil {
		return "", err
	}
	for _, path := range []string{daemon, behind} {
		prefix := filepath.Dir(filepath.Dir(path))
		for _, pattern := range []string{"lib/*/slurm-wlm", "lib64/slurm", "lib/slurm", "lib/*/slurm"} {
			found, _ := filepath.Glob(filepath.Join(prefix, pattern, "select_cons_tres.so"))
			if len(found) > 0 {
				return filepath.Dir(found[0]), nil
			}
		}
	}
	return "", &ErrMissing{"no select_cons_tres.so in the usual plug-in directories below " + filepath.Dir(filepath.Dir(daemon)) +
		" (Debian: apt-get install slurm-wlm-basic-plugins)"}
}
