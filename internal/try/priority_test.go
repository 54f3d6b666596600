// SPDX-License-Identifier: BSD-3-Clause

package try

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/workload"
)

// ranked is smallConf with priorities of several factors.
const ranked = smallConf + "PriorityType=priority/multifactor\n"

// Accounts have the priority of a job as it came, or of a task of an array, but the last,
// as it began. What it is at another time is told by its age, and by what fair share is
// then to others of the user.
func TestPriority(t *testing.T) {
	job := func(id, user string, came, began int64, priority int) row {
		return row{id: id, partition: "cpu", user: user, eligible: came, start: began, run: 60, limit: 10,
			cpus: 1, nodes: 1, mem: "1M", priority: priority}
	}
	rows := []row{job("1", "eve", 0, 9000, 2000), job("7_1", "eve", 0, 3000, 5000), job("7_2", "eve", 0, 9000, 4000),
		job("8", "ann", 3000, 9000, 5000), job("9", "ann", 9000, 9100, 2000), job("10", "bob", 9000, 9100, 7000)}
	const age, fair = "PriorityWeightAge=8640\nPriorityMaxAge=1-0\n", "PriorityWeightFairshare=10000\n"
	for _, c := range []struct {
		name, conf, id string
		at, want       int64
	}{
		{"as it came", age, "1", 0, 2000},
		{"more as it waits", age, "1", 3000, 2000 + 300},
		{"reckoned every five minutes", age, "1", 3299, 2000 + 300},
		{"or as slurm.conf says", age + "PriorityCalcPeriod=1\n", "1", 3299, 2000 + 324},
		{"no more than the oldest", "PriorityWeightAge=3600\nPriorityMaxAge=1:00:00\n", "1", 12000, 2000 + 3600},
		{"a task as it began", age, "7_1", 3000, 5000},
		{"a task before", age, "7_1", 0, 5000 - 300},
		{"the last task as the array came", age, "7_2", 3000, 4000 + 300},
		{"never less than 1", "PriorityWeightAge=1000000\nPriorityMaxAge=1-0\n", "7_1", 0, 1},
		{"the user's share then", fair, "8", 3000, 5000},
		{"between what is known", fair, "8", 6000, 3500},
		{"later", fair, "8", 9000, 2000},
		{"after that", fair, "8", 20000, 2000},
		{"another user's is another", fair, "10", 20000, 7000},
		{"both", age + fair, "8", 9000, 5000 + 600 - 3000},
		{"size is no share", fair + "PriorityWeightJobSize=1000\n", "8", 9000, 2000},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := pastOf(t, ranked+c.conf, rows, Options{Weeks: 1})
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
		{id: "low", partition: "cpu", priority: 4_000_000_000}, {id: "high", partition: "first", priority: 5},
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
		"PartitionName=first Nodes=c[5-8] PriorityTier=9\n", rows, Options{Span: Span{monday, monday + 5000}})
	slices.SortFunc(p.Jobs, func(a, b workload.Job) int { return int(b.Priority>>8 - a.Priority>>8) })
	var order []string
	for i := range p.Jobs {
		order = append(order, p.Jobs[i].ID)
	}
	require.Equal(t, []string{"ran", "high", "low", "equal"}, order)
	require.Equal(t, int64(core.MaxPriority), p.Jobs[0].Priority)
}

// If a site's Slurm is the simulated one, and ranks jobs by how long they have waited,
// the simulated one does as it did, job for job, though the accounts have but the
// first priority of each.
func TestAgreesWithItselfByAge(t *testing.T) {
	race.Slow(t)
	conf := ranked + "PriorityWeightAge=14400\nPriorityMaxAge=4:00:00\nPriorityWeightJobSize=9000\n"
	rows := drawn(6, 300)
	for i := range rows {
		rows[i].priority = 100 + 60*rows[i].cpus // as it comes
	}
	first := pastOf(t, conf, rows, Options{Weeks: 1})
	did := replay(t, first, first.Slurm())
	starts := map[string]int64{}
	for i := range first.Jobs {
		starts[first.Jobs[i].ID] = did.Began[i] + first.Start - monday
	}
	for i := range rows {
		rows[i].start = starts[rows[i].id]
	}
	p := pastOf(t, conf, rows, Options{Weeks: 1})
	require.Equal(t, p.What().Began, replay(t, p, p.Slurm()).Began)

	p.factors = nil
	require.NotEqual(t, p.What().Began, replay(t, p, p.Slurm()).Began, "priorities stay")
}

// Slurm's backfill looks at bf_max_job_test jobs of all partitions, also of
// those that share no node.
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
		p := pastOf(t, smallConf+"SchedulerParameters=bf_interval=30,bf_node_space_size=100,bf_max_job_test="+most+"\n", rows,
			Options{Weeks: 1})
		require.Equal(t, want, replay(t, p, p.Slurm()).Began[4] < 6000, "bf_max_job_test=%s", most)
	}
}

// A job that was cancelled as it waited had others wait until then, and is not counted.
func TestCancelled(t *testing.T) {
	rows := []row{
		{id: "runs", cpus: 112, nodes: 7, run: 6000},
		{id: "waits", cpus: 128, nodes: 8, eligible: 10, start: 2000, state: "CANCELLED by 5"},
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
		"PriorityWeightJobSize=99999999999": `slurm.conf:11: PriorityWeightJobSize: "99999999999": must be a whole number`,
	} {
		require.NoError(t, os.WriteFile(conf, []byte(ranked+line), 0o600))
		_, err := Read(sacct, conf, Options{Weeks: 1})
		require.ErrorContains(t, err, want)
	}
}

// Jobs that had one node may have several if jobs alike had: tasks of the same array, or the user's
// in the partition with as much memory a core.
func TestSpread(t *testing.T) {
	job := func(id, user, partition, mem string, cpus, asked, given int) row {
		return row{id: id, partition: partition, user: user, run: 60, limit: 10, cpus: cpus,
			nodes: given, asked: asked, mem: mem, priority: 9}
	}
	p := past(t, []row{
		// 2000 MB a core both
		job("1", "ann", "cpu", "40000M", 20, 1, 2), job("2", "ann", "cpu", "8000M", 4, 1, 1),
		job("3", "ann", "cpu", "40000M", 4, 1, 1), job("4", "ann", "wide", "8000M", 4, 1, 1), job("5", "bob", "cpu", "8000M", 4, 1, 1),
		job("6_1", "bob", "wide", "1G", 4, 1, 1), job("6_2", "bob", "wide", "1G", 4, 1, 3), job("7", "ann", "cpu", "2000M", 1, 1, 1),
		job("8", "bob", "cpu", "64G", 32, 2, 2),
	}, Options{Weeks: 1})
	most := map[string]int{}
	for i := range p.Jobs {
		j := &p.Jobs[i]
		most[j.ID] = j.MaxNodes
		if j.ID == "2" {
			require.Equal(t, workload.Memory{PerCore: 2000}, j.Memory)
		}
		if j.ID == "8" {
			require.Equal(t, 16, j.TasksPerNode)
		}
	}
	require.Equal(t, map[string]int{"1": 0, "2": 0, "3": 1, "4": 1, "5": 1, "6_1": 0, "6_2": 0, "7": 1, "8": 2}, most)
}

// Slots of reservations begin at full minutes of the clock, and not of the first job.
func TestAligned(t *testing.T) {
	rows := []row{{id: "1", eligible: 3725, run: 60, start: 3800}}
	rows[0].partition, rows[0].user, rows[0].cpus, rows[0].nodes, rows[0].limit, rows[0].mem = "cpu", "u", 1, 1, 10, "1M"
	p := past(t, rows, Options{Weeks: 1})
	require.Equal(t, []int64{monday + 3600, 125, 200}, []int64{p.Start, p.Jobs[0].Submit, p.Jobs[0].Past.Began})
}

// A job that Slurm let run beyond its limit does so here too, and is expected to end at it.
func TestOutlives(t *testing.T) {
	rows := []row{{id: "1", run: 700}, {id: "2", run: 60, eligible: 5, start: 702}}
	for i := range rows {
		r := &rows[i]
		r.partition, r.user, r.cpus, r.nodes, r.limit, r.mem, r.priority = "cpu", "u", 128, 8, 10, "1M", 9-i
	}
	p := past(t, rows, Options{Weeks: 1})
	require.Equal(t, []int64{700, 600}, []int64{p.Jobs[0].Duration, p.Jobs[0].TimeLimit})
	require.Equal(t, []int64{0, 702}, replay(t, p, p.Slurm()).Began)
}
