// SPDX-License-Identifier: BSD-3-Clause

package link

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/aucsched/aucsched/internal/durable"
	"github.com/aucsched/aucsched/invasive"
)

// compact writes the file anew with what still counts. Until the new one has its name
// the old one is whole.
func (j *Journal) compact() error {
	temp := j.path + ".new"
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	size, err := writeSnapshot(f, j.jobs)
	if err == nil {
		err = f.Sync()
	}
	if err == nil && j.Point != nil {
		j.Point("journal: compacted")
	}
	if err == nil {
		err = os.Rename(temp, j.path)
	}
	if err == nil {
		err = durable.SyncDir(filepath.Dir(j.path))
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	if j.file != nil {
		err = j.file.Close()
	}
	j.file, j.size, j.base = f, size, size
	return err
}

func writeSnapshot(f *os.File, jobs []invasive.Saved) (int64, error) {
	out := []byte(journalHead)
	var size int64
	for first := 0; ; first += snapshotJobs {
		var records []invasive.Record
		for _, s := range jobs[min(first, len(jobs)):min(first+snapshotJobs, len(jobs))] {
			records = append(records, recordsOf(s)...)
		}
		var err error
		if len(records) > 0 {
			if out, err = appendFrame(out, records); err != nil {
				return 0, err
			}
		}
		n, err := f.Write(out)
		size += int64(n)
		if err != nil || len(records) == 0 {
			return size, err
		}
		out = out[:0]
	}
}

// recordsOf is what Replay makes a Saved of.
func recordsOf(s invasive.Saved) []invasive.Record {
	r := []invasive.Record{{Op: invasive.Add, Job: s.Job, Parts: s.Parts}}
	switch s.State {
	case invasive.Running:
		r = append(r, invasive.Record{Op: invasive.Own, ID: s.Job.ID, Cores: s.Cores})
	case invasive.Done:
		r = append(r, invasive.Record{Op: invasive.End, ID: s.Job.ID, Exit: s.Exit})
	}
	return r
}
