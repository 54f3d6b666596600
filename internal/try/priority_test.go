// SPDX-License-Identifier: BSD-3-Clause

package try

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/race"
	"github.com/aucsched/aucsched/internal/workload"
)

// ranked is smallConf with priorities of several factors.
const ranked = smallConf + "PriorityType=priority/multifactor\n"

// Accounts have the priority of a job's start. What it was before is told by its age, and by what
// fair share then was to others of the same user.
func TestPriority(t *testing.T) {
	began := func(id, user string, at int64, priority int) row {
		return row{id: id, partition: "cpu", user: user, start: at, run: 60, limit: 10, cpus: 1, nodes: 1, mem: "1M", priority: priority}
	}
	rows := []row{began("a", "ann", 3000, 5000), began("b", "ann", 9000, 2000), began("c", "bob", 9000, 7000)}
	const age, fair = "PriorityWeightAge=8640\nPriorityMaxAge=1-0\n", "PriorityWeightFairshare=10000\n"
	for _, c := range []struct {
		name, conf, id string
		at, want       int64
	}{
		{"as it began", age, "b", 9000, 2000},
		{"less before", age, "b", 3000, 2000 - 600},
		{"reckoned every five minutes", age, "b", 3299, 2000 - 600},
		{"or as slurm.conf says", age + "PriorityCalcPeriod=1", "b", 3299, 2000 - 576},
		{"more where it waits longer", age, "a", 12000, 5000 + 900},
		{"no more than the oldest", age + "PriorityMaxAge=1:00:00\nPriorityWeightAge=3600\n", "a", 12000, 5000 + 600},
		{"never less than 1", age + "PriorityWeightAge=1000000\n", "b", 0, 1},
		{"the user's share then", fair, "b", 3000, 5000},
		{"between what is known", fair, "b", 6000, 3500},
		{"after that", fair, "a", 20000, 2000},
		{"another user's is another", fair, "c", 3000, 7000},
		{"both", age + fair, "b", 3000, 2000 - 600 + (5000 - 300) - (2000 - 900)},
		{"size is no share", fair + "PriorityWeightJobSize=1000\n", "b", 3000, 5000},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := pastOf(t, ranked+c.conf, append(rows, began("first", "eve", 0, 9)), Options{Weeks: 1})
			k := slices.IndexFunc(p.Jobs, func(j workload.Job) bool { return j.ID == c.id })
			require.Equal(t, c.want, p.factors.Priority(&p.Jobs[k], c.at))
		})
	}
	p := pastOf(t, smallConf, rows, Options{Weeks: 1})
	require.Nil(t, p.factors, "priority/basic")
}

// Of a partition of a higher tier all jobs come first, whatever their priorities; what ran already
// comes before all.
func TestTiers(t *testing.T) {
	rows := []row{
		{id: "low", partition: "cpu", priority: 4_000_000_000}, {id: "high", partition: "wide", priority: 5},
		{id: "equal", partition: "gpu", priority: 7}, {id: "ran", partition: "cpu", start: -50, eligible: -100, run: 5000},
	}
	for i := range rows {
		r := &rows[i]
		r.user, r.cpus, r.nodes, r.limit, r.mem = "u", 1, 1, 400, "1M"
		if r.run == 0 {
			r.start, r.run = 1000, 60
		}
	}
	p := pastOf(t, smallConf+"PartitionName=DEFAULT PriorityTier=3\nPartitionName=more Nodes=c1\n"+
		"PartitionName=wide Nodes=c[5-8] PriorityTier=9\n", rows, Options{Span: Span{monday, monday + 5000}})
	slices.SortFunc(p.Jobs, func(a, b workload.Job) int { return int(b.Priority>>8 - a.Priority>>8) })
	var order []string
	for i := range p.Jobs {
		order = append(order, p.Jobs[i].ID)
	}
	require.Equal(t, []string{"ran", "high", "low", "equal"}, order)
	require.Equal(t, int64(core.MaxPriority), p.Jobs[0].Priority)
}

// If a site's Slurm is the simulated one, and ranks jobs by how long they have waited, the simulated
// one does as it did, job for job, though the accounts have but the last priority of each.
func TestAgreesWithItselfByAge(t *testing.T) {
	race.Slow(t)
	conf := ranked + "PriorityWeightAge=14400\nPriorityMaxAge=4:00:00\nPriorityWeightJobSize=9000\n"
	rows := drawn(6, 300)
	for i := range rows {
		rows[i].priority = 100 + 60*rows[i].cpus // as it comes
	}
	first := pastOf(t, conf, rows, Options{Weeks: 1})
	did := replay(t, first, first.Slurm())
	at := map[string]int{}
	for i := range first.Jobs {
		at[first.Jobs[i].ID] = i
	}
	for i := range rows {
		k := at[rows[i].id]
		rows[i].start = did.Began[k] + first.Start - monday
		rows[i].priority = int(first.factors.Priority(&first.Jobs[k], did.Began[k]))
	}
	p := pastOf(t, conf, rows, Options{Weeks: 1})
	require.Equal(t, p.What().Began, replay(t, p, p.Slurm()).Began)

	p.factors = nil
	require.NotEqual(t, p.What().Began, replay(t, p, p.Slurm()).Began, "priorities stay")
}

// Slurm's backfill looks at bf_max_job_test jobs of all partitions, also of those that share no node.
func TestSlurmSeesTheWholeMachine(t *testing.T) {
	rows := []row{
		{id: "1", partition: "cpu", cpus: 128, nodes: 8, run: 6000}, {id: "2", partition: "cpu", cpus: 128, nodes: 8, run: 60},
		{id: "3", partition: "gpu", cpus: 60, nodes: 4, run: 6000}, {id: "4", partition: "gpu", cpus: 64, nodes: 4, run: 60},
		{id: "5", partition: "gpu", cpus: 1, nodes: 1, run: 60},
	}
	for i := range rows {
		r := &rows[i]
		r.user, r.limit, r.mem, r.priority, r.eligible = "u", r.run/60, "1M", 100-i, int64(i)
	}
	for most, want := range map[string]bool{"2": false, "3": true} {
		p := pastOf(t, smallConf+"SchedulerParameters=bf_interval=30,bf_node_space_size=100,bf_max_job_test="+most+"\n", rows, Options{Weeks: 1})
		require.Equal(t, want, replay(t, p, p.Slurm()).Began[4] < 6000, "bf_max_job_test=%s", most)
	}
}

// A job that was cancelled as it waited had others wait until then, and is not counted.
func TestCancelled(t *testing.T) {
	rows := []row{
		{id: "runs", cpus: 112, nodes: 7, run: 6000}, {id: "waits", cpus: 128, nodes: 8, eligible: 10, start: 2000, state: "CANCELLED by 5"},
		{id: "behind", cpus: 16, nodes: 1, eligible: 20, run: 9000, start: 2000},
	}
	for i := range rows {
		r := &rows[i]
		r.partition, r.user, r.limit, r.mem, r.priority = "cpu", "u", 200, "1M", 100-i
	}
	p := past(t, rows, Options{Weeks: 1})
	r := replay(t, p, p.Slurm())
	require.Equal(t, []int64{0, -1, 2000}, r.Began)
	report := p.NewReport([]*Replay{p.What(), r}, 1)
	require.Equal(t, 2, report.All.Jobs)
	require.Equal(t, []workload.Tally{{Reason: leftItself, Jobs: 1}}, report.Left)
}

func TestFactorErrors(t *testing.T) {
	sacct, conf := write(t, ranked, drawn(1, 5))
	for line, want := range map[string]string{
		"PriorityWeightAge=-1":              `slurm.conf:11: PriorityWeightAge: "-1": must be a whole number`,
		"PriorityWeightFairshare=1e9":       `slurm.conf:11: PriorityWeightFairshare: "1e9": must be a whole number`,
		"PriorityMaxAge=0":                  `slurm.conf:11: PriorityMaxAge: "0": must be at least a minute`,
		"PriorityCalcPeriod=soon":           `slurm.conf:11: PriorityCalcPeriod: "soon": not a time`,
		"PriorityWeightJobSize=99999999999": `slurm.conf:11: PriorityWeightJobSize: "99999999999": must be a whole number from 0 to 4294967295`,
	} {
		require.NoError(t, os.WriteFile(conf, []byte(ranked+line), 0o600))
		_, err := Read(sacct, conf, Options{Weeks: 1})
		require.ErrorContains(t, err, want)
	}
}
