// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/input"
	"github.com/aucsched/aucsched/internal/slurm/conf"
)

// statusLimit bounds the size of a status file.
const statusLimit = 1 << 20

// staleAfter is the number of intervals after which a status file is stale.
const staleAfter = 3

func statusCommand() *cobra.Command { return newStatusCommand(time.Now, os.Getenv) }

func newStatusCommand(now func() time.Time, getenv func(string) string) *cobra.Command {
	var file string
	var asJSON bool
	c := &cobra.Command{
		Use:   "status",
		Short: "Say what the auction inside slurmctld is doing, as sdiag does of Slurm's own schedulers",
		Long: `status prints the status file, which the plug-in writes once per cycle. Without --file its path is
auc_status=PATH in SchedulerParameters of slurm.conf ($SLURM_CONF, or /etc/slurm/slurm.conf), or else
aucsched.status in StateSaveLocation.

If the status is older than three intervals it is printed, and the exit status is 1.`,
		Example: "  aucsched status\n  aucsched status --json --file /var/spool/slurmctld/aucsched.status",
		Args:    cli.ExactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error {
			file, err := statusFile(file, getenv)
			if err != nil {
				return err
			}
			s, text, err := readStatus(file)
			if err != nil {
				return cli.BadInput(err)
			}
			if asJSON {
				_, err = c.OutOrStdout().Write(text)
			} else {
				err = s.print(c.OutOrStdout(), now())
			}
			if err != nil {
				return err
			}
			if s.stale(now()) {
				return fmt.Errorf("%s: stale: written %s ago, and every %v when all is well: is "+
					"slurmctld running, and its plug-in loaded?", file, ago(s.age(now())), s.interval)
			}
			return nil
		},
	}
	c.Flags().StringVar(&file, "file", "", "the status file")
	c.Flags().BoolVar(&asJSON, "json", false, "print the file as it is, which is JSON")
	return c
}

// unread adds to an error what may be behind it; key is the setting that names the file, if one does.
func unread(err error, key string) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: slurmctld has not written it: either it does not run here with "+
			"aucsched's plug-in, or it can't write there, and then its log says why", err)
	case errors.Is(err, fs.ErrPermission) && key == "":
		return fmt.Errorf("%w: ask as a user who may read it", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: ask as a user who may read it, or have %s in "+
			"SchedulerParameters name a place that all may read", err, key)
	}
	return err
}

// readStatus reads a status file, and returns its text too.
func readStatus(file string) (*status, []byte, error) {
	text, err := readLimited(file, statusLimit)
	if err != nil {
		return nil, nil, unread(err, "auc_status")
	}
	s, err := parseStatus(text)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, text, nil
}

// readLimited reads a file of at most limit bytes.
func readLimited(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("%s: longer than %d bytes", path, limit)
	}
	return text, nil
}

// status is what a status file says. Fields that are not known to this program are kept.
type status struct {
	fields   map[string]any
	written  time.Time
	interval time.Duration
}

// parseStatus reads a status file. It insists on an object with a time and an interval
// and takes everything else as it comes.
func parseStatus(text []byte) (*status, error) {
	s := &status{}
	text, err := input.TrimMark(text)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&s.fields); err != nil {
		return nil, notStatus(text, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("there is more after the end of the JSON")
	}
	for _, field := range []string{"time", "interval_s"} {
		if _, ok := s.fields[field]; !ok {
			return nil, fmt.Errorf("not the JSON of a status, as aucsched's plug-in of Slurm writes it: there is no field %q", field)
		}
	}
	written, err := s.seconds("time", 0, 1<<40)
	if err != nil {
		return nil, err
	}
	interval, err := s.seconds("interval_s", 0, 1<<30)
	if err != nil {
		return nil, err
	}
	s.written = time.UnixMilli(int64(written * 1000))
	s.interval = time.Duration(interval * float64(time.Second))
	return s, nil
}

// notStatus says why a text can't be decoded, and in which line.
func notStatus(text []byte, err error) error {
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		err = fmt.Errorf("line %d: %w", 1+bytes.Count(text[:max(syntax.Offset-1, 0)], []byte{'\n'}), err)
	} else if kind := (*json.UnmarshalTypeError)(nil); errors.As(err, &kind) {
		err = fmt.Errorf("expected an object, found a %s", kind.Value)
	} else if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the file ends too early")
	}
	return fmt.Errorf("not the JSON of a status: %w", err)
}

// seconds is a number of the file, which must be there.
func (s *status) seconds(field string, low, high float64) (float64, error) {
	n, ok := s.fields[field].(json.Number)
	if !ok {
		return 0, fmt.Errorf("%s: %s: must be a number of seconds", field, show(s.fields[field]))
	}
	v, err := n.Float64()
	if err != nil || !(v >= low && v <= high) {
		return 0, fmt.Errorf("%s: %s: must be %.0f to %.0f seconds", field, n, low, high)
	}
	return v, nil
}

// age is how long ago the file was written.
func (s *status) age(now time.Time) time.Duration {
	return max(now.Sub(s.written), 0).Truncate(time.Second)
}

// stale says that the file is older than it may be while slurmctld writes it.
func (s *status) stale(now time.Time) bool { return s.age(now) > staleAfter*s.interval }

const slurmConf = "/etc/slurm/slurm.conf"

// statusFile is the file that was given, or else that which slurm.conf tells of.
func statusFile(given string, getenv func(string) string) (string, error) {
	file, err := stateFile("--file", given, getenv("SLURM_CONF"), "auc_status", "aucsched.status")
	return file, cli.BadInput(err)
}

// stateFile is the file that was given, or else the one that a slurm.conf tells of. That is what
// key, if any, names in SchedulerParameters, or the one of the given name in StateSaveLocation.
func stateFile(missing, given, path, key, name string) (string, error) {
	if given != "" {
		return given, nil
	}
	c, err := conf.Read(cmp.Or(path, slurmConf))
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: name the file itself, or have SLURM_CONF name a slurm.conf", err)
	}
	if err != nil {
		return "", fmt.Errorf("%s is not given, and %w", missing, err)
	}
	if file, _ := c.Option("SchedulerParameters", key); key != "" && file != "" {
		return file, nil
	}
	if dir, _, _ := c.Last("StateSaveLocation"); dir != "" {
		return filepath.Join(dir, name), nil
	}
	names := map[bool]string{true: "does not name", false: "names neither " + key + " in SchedulerParameters nor"}[key == ""]
	return "", fmt.Errorf("%s is not given, and %s: %s StateSaveLocation", missing, c.Path, names)
}
