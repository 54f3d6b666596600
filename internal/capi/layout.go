// SPDX-License-Identifier: BSD-3-Clause

//go:build cgo

package capi

import (
	"unsafe"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/engine"
)

// #include "aucsched.h"
import "C"

// Every line compiles only if its index is 0: if C and Go agree.
var (
	cNode, node               = C.struct_aucsched_node{}, engine.Node{}
	cSegment, segment         = C.struct_aucsched_segment{}, engine.Segment{}
	cRunning, running         = C.struct_aucsched_running{}, engine.Running{}
	cJob, job                 = C.struct_aucsched_job{}, engine.Job{}
	cAlternative, alternative = C.struct_aucsched_alternative{}, engine.Alternative{}
	cDecision, decision       = C.struct_aucsched_decision{}, engine.Decision{}
	cStore, store             = C.struct_aucsched_store{}, engine.Store{}
	cRead, read               = C.struct_aucsched_read{}, engine.Read{}
	cAmount, amount           = C.struct_aucsched_amount{}, engine.Amount{}
	cUse, use                 = C.struct_aucsched_use{}, engine.Use{}
	cCharge, charge           = C.struct_aucsched_charge{}, engine.Charge{}
	cSwitch, aSwitch          = C.struct_aucsched_switch{}, engine.Switch{}
	cShared, shared           = C.struct_aucsched_shared_gpu{}, engine.SharedGPU{}
	cPreference, preference   = C.struct_aucsched_preference{}, engine.Preference{}
	cStake, stake             = C.struct_aucsched_stake{}, engine.Stake{}

	_ = [1]int{}[unsafe.Sizeof(cNode)-unsafe.Sizeof(node)]
	_ = [1]int{}[unsafe.Offsetof(cNode.cores)-unsafe.Offsetof(node.Cores)]
	_ = [1]int{}[unsafe.Offsetof(cNode.free_cores)-unsafe.Offsetof(node.FreeCores)]
	_ = [1]int{}[unsafe.Offsetof(cNode.gpus)-unsafe.Offsetof(node.GPUs)]
	_ = [1]int{}[unsafe.Offsetof(cNode.free_gpus)-unsafe.Offsetof(node.FreeGPUs)]
	_ = [1]int{}[unsafe.Offsetof(cNode.up)-unsafe.Offsetof(node.Up)]
	_ = [1]int{}[unsafe.Offsetof(cNode.tier)-unsafe.Offsetof(node.Tier)]

	_ = [1]int{}[unsafe.Sizeof(cSegment)-unsafe.Sizeof(segment)]
	_ = [1]int{}[unsafe.Offsetof(cSegment.first)-unsafe.Offsetof(segment.First)]
	_ = [1]int{}[unsafe.Offsetof(cSegment.last)-unsafe.Offsetof(segment.Last)]
	_ = [1]int{}[unsafe.Offsetof(cSegment.cores)-unsafe.Offsetof(segment.Cores)]
	_ = [1]int{}[unsafe.Offsetof(cSegment.gpus)-unsafe.Offsetof(segment.GPUs)]
	_ = [1]int{}[unsafe.Offsetof(cSegment.bin)-unsafe.Offsetof(segment.Bin)]

	_ = [1]int{}[unsafe.Sizeof(cRunning)-unsafe.Sizeof(running)]
	_ = [1]int{}[unsafe.Offsetof(cRunning.end)-unsafe.Offsetof(running.End)]
	_ = [1]int{}[unsafe.Offsetof(cRunning.first_segment)-unsafe.Offsetof(running.FirstSegment)]
	_ = [1]int{}[unsafe.Offsetof(cRunning.segments)-unsafe.Offsetof(running.Segments)]
	_ = [1]int{}[unsafe.Offsetof(cRunning.price)-unsafe.Offsetof(running.Price)]
	_ = [1]int{}[unsafe.Offsetof(cRunning.share)-unsafe.Offsetof(running.Share)]
	_ = [1]int{}[unsafe.Offsetof(cRunning.preempt_class)-unsafe.Offsetof(running.PreemptClass)]
	_ = [1]int{}[unsafe.Offsetof(cRunning.reserved)-unsafe.Offsetof(running.Reserved)]

	_ = [1]int{}[unsafe.Sizeof(cJob)-unsafe.Sizeof(job)]
	_ = [1]int{}[unsafe.Offsetof(cJob.priority)-unsafe.Offsetof(job.Priority)]
	_ = [1]int{}[unsafe.Offsetof(cJob.cores)-unsafe.Offsetof(job.Cores)]
	_ = [1]int{}[unsafe.Offsetof(cJob.min_nodes)-unsafe.Offsetof(job.MinNodes)]
	_ = [1]int{}[unsafe.Offsetof(cJob.max_nodes)-unsafe.Offsetof(job.MaxNodes)]
	_ = [1]int{}[unsafe.Offsetof(cJob.cores_per_node)-unsafe.Offsetof(job.CoresPerNode)]
	_ = [1]int{}[unsafe.Offsetof(cJob.time_limit)-unsafe.Offsetof(job.TimeLimit)]
	_ = [1]int{}[unsafe.Offsetof(cJob.min_gpus)-unsafe.Offsetof(job.MinGPUs)]
	_ = [1]int{}[unsafe.Offsetof(cJob.max_gpus)-unsafe.Offsetof(job.MaxGPUs)]
	_ = [1]int{}[unsafe.Offsetof(cJob.flags)-unsafe.Offsetof(job.Flags)]
	_ = [1]int{}[unsafe.Offsetof(cJob.reserved)-unsafe.Offsetof(job.Reserved)]
	_ = [1]int{}[unsafe.Offsetof(cJob.mask)-unsafe.Offsetof(job.Mask)]
	_ = [1]int{}[unsafe.Offsetof(cJob.waited)-unsafe.Offsetof(job.Waited)]
	_ = [1]int{}[unsafe.Offsetof(cJob.switches)-unsafe.Offsetof(job.Switches)]
	_ = [1]int{}[unsafe.Offsetof(cJob.within)-unsafe.Offsetof(job.Within)]
	_ = [1]int{}[unsafe.Offsetof(cJob.segment)-unsafe.Offsetof(job.Segment)]
	_ = [1]int{}[unsafe.Offsetof(cJob.preempts)-unsafe.Offsetof(job.Preempts)]
	_ = [1]int{}[unsafe.Offsetof(cJob.share)-unsafe.Offsetof(job.Share)]
	_ = [1]int{}[unsafe.Offsetof(cJob.reserved2)-unsafe.Offsetof(job.Reserved2)]

	_ = [1]int{}[unsafe.Sizeof(cShared)-unsafe.Sizeof(shared)]
	_ = [1]int{}[unsafe.Offsetof(cShared.node)-unsafe.Offsetof(shared.Node)]
	_ = [1]int{}[unsafe.Offsetof(cShared.free)-unsafe.Offsetof(shared.Free)]
	_ = [1]int{}[unsafe.Offsetof(cShared.bin)-unsafe.Offsetof(shared.Bin)]
	_ = [1]int{}[unsafe.Offsetof(cShared.reserved)-unsafe.Offsetof(shared.Reserved)]

	_ = [1]int{}[unsafe.Sizeof(cPreference)-unsafe.Sizeof(preference)]
	_ = [1]int{}[unsafe.Offsetof(cPreference.asleep)-unsafe.Offsetof(preference.Asleep)]
	_ = [1]int{}[unsafe.Offsetof(cPreference.spread)-unsafe.Offsetof(preference.Spread)]

	_ = [1]int{}[unsafe.Sizeof(cStake)-unsafe.Sizeof(stake)]
	_ = [1]int{}[unsafe.Offsetof(cStake.running)-unsafe.Offsetof(stake.Running)]
	_ = [1]int{}[unsafe.Offsetof(cStake.order)-unsafe.Offsetof(stake.Order)]
	_ = [1]int{}[unsafe.Offsetof(cStake.cores)-unsafe.Offsetof(stake.Cores)]
	_ = [1]int{}[unsafe.Offsetof(cStake.ran)-unsafe.Offsetof(stake.Ran)]
	_ = [1]int{}[unsafe.Offsetof(cStake.answers)-unsafe.Offsetof(stake.Answers)]
	_ = [1]int{}[unsafe.Offsetof(cStake.cancelled)-unsafe.Offsetof(stake.Cancelled)]

	_ = [1]int{}[unsafe.Sizeof(cSwitch)-unsafe.Sizeof(aSwitch)]
	_ = [1]int{}[unsafe.Offsetof(cSwitch.parent)-unsafe.Offsetof(aSwitch.Parent)]
	_ = [1]int{}[unsafe.Offsetof(cSwitch.reserved)-unsafe.Offsetof(aSwitch.Reserved)]

	_ = [1]int{}[unsafe.Sizeof(cAlternative)-unsafe.Sizeof(alternative)]
	_ = [1]int{}[unsafe.Offsetof(cAlternative.job)-unsafe.Offsetof(alternative.Job)]
	_ = [1]int{}[unsafe.Offsetof(cAlternative.cores)-unsafe.Offsetof(alternative.Cores)]
	_ = [1]int{}[unsafe.Offsetof(cAlternative.min_nodes)-unsafe.Offsetof(alternative.MinNodes)]
	_ = [1]int{}[unsafe.Offsetof(cAlternative.max_nodes)-unsafe.Offsetof(alternative.MaxNodes)]
	_ = [1]int{}[unsafe.Offsetof(cAlternative.cores_per_node)-unsafe.Offsetof(alternative.CoresPerNode)]
	_ = [1]int{}[unsafe.Offsetof(cAlternative.min_gpus)-unsafe.Offsetof(alternative.MinGPUs)]
	_ = [1]int{}[unsafe.Offsetof(cAlternative.max_gpus)-unsafe.Offsetof(alternative.MaxGPUs)]
	_ = [1]int{}[unsafe.Offsetof(cAlternative.flags)-unsafe.Offsetof(alternative.Flags)]
	_ = [1]int{}[unsafe.Offsetof(cAlternative.reserved)-unsafe.Offsetof(alternative.Reserved)]
	_ = [1]int{}[unsafe.Offsetof(cAlternative.mask)-unsafe.Offsetof(alternative.Mask)]
	_ = [1]int{}[unsafe.Offsetof(cAlternative.share)-unsafe.Offsetof(alternative.Share)]

	_ = [1]int{}[unsafe.Sizeof(cDecision)-unsafe.Sizeof(decision)]
	_ = [1]int{}[unsafe.Offsetof(cDecision.expected)-unsafe.Offsetof(decision.Expected)]
	_ = [1]int{}[unsafe.Offsetof(cDecision.first_segment)-unsafe.Offsetof(decision.FirstSegment)]
	_ = [1]int{}[unsafe.Offsetof(cDecision.segments)-unsafe.Offsetof(decision.Segments)]
	_ = [1]int{}[unsafe.Offsetof(cDecision.why)-unsafe.Offsetof(decision.Why)]
	_ = [1]int{}[unsafe.Offsetof(cDecision.bid_class)-unsafe.Offsetof(decision.BidClass)]
	_ = [1]int{}[unsafe.Offsetof(cDecision.gpus)-unsafe.Offsetof(decision.GPUs)]
	_ = [1]int{}[unsafe.Offsetof(cDecision.alternative)-unsafe.Offsetof(decision.Alternative)]
	_ = [1]int{}[unsafe.Offsetof(cDecision.holders)-unsafe.Offsetof(decision.Holders)]
	_ = [1]int{}[unsafe.Offsetof(cDecision.quota)-unsafe.Offsetof(decision.Quota)]
	_ = [1]int{}[unsafe.Offsetof(cDecision.first_victim)-unsafe.Offsetof(decision.FirstVictim)]
	_ = [1]int{}[unsafe.Offsetof(cDecision.victims)-unsafe.Offsetof(decision.Victims)]
	_ = [1]int{}[unsafe.Offsetof(cDecision.reserved)-unsafe.Offsetof(decision.Reserved)]

	_ = [1]int{}[unsafe.Sizeof(cStore)-unsafe.Sizeof(store)]
	_ = [1]int{}[unsafe.Offsetof(cStore.id)-unsafe.Offsetof(store.ID)]
	_ = [1]int{}[unsafe.Offsetof(cStore.bytes)-unsafe.Offsetof(store.Bytes)]

	_ = [1]int{}[unsafe.Sizeof(cRead)-unsafe.Sizeof(read)]
	_ = [1]int{}[unsafe.Offsetof(cRead.job)-unsafe.Offsetof(read.Job)]
	_ = [1]int{}[unsafe.Offsetof(cRead.reserved)-unsafe.Offsetof(read.Reserved)]
	_ = [1]int{}[unsafe.Offsetof(cRead.file)-unsafe.Offsetof(read.File)]
	_ = [1]int{}[unsafe.Offsetof(cRead.bytes)-unsafe.Offsetof(read.Bytes)]

	_ = [1]int{}[unsafe.Sizeof(cAmount)-unsafe.Sizeof(amount)]
	_ = [1]int{}[unsafe.Offsetof(cAmount.total)-unsafe.Offsetof(amount.Total)]
	_ = [1]int{}[unsafe.Offsetof(cAmount.free)-unsafe.Offsetof(amount.Free)]

	_ = [1]int{}[unsafe.Sizeof(cUse)-unsafe.Sizeof(use)]
	_ = [1]int{}[unsafe.Offsetof(cUse.of)-unsafe.Offsetof(use.Of)]
	_ = [1]int{}[unsafe.Offsetof(cUse.resource)-unsafe.Offsetof(use.Resource)]
	_ = [1]int{}[unsafe.Offsetof(cUse.reserved)-unsafe.Offsetof(use.Reserved)]
	_ = [1]int{}[unsafe.Offsetof(cUse.per_node)-unsafe.Offsetof(use.PerNode)]
	_ = [1]int{}[unsafe.Offsetof(cUse.per_core)-unsafe.Offsetof(use.PerCore)]
	_ = [1]int{}[unsafe.Offsetof(cUse.per_gpu)-unsafe.Offsetof(use.PerGPU)]

	_ = [1]int{}[unsafe.Sizeof(cCharge)-unsafe.Sizeof(charge)]
	_ = [1]int{}[unsafe.Offsetof(cCharge.of)-unsafe.Offsetof(charge.Of)]
	_ = [1]int{}[unsafe.Offsetof(cCharge.quota)-unsafe.Offsetof(charge.Quota)]
	_ = [1]int{}[unsafe.Offsetof(cCharge.per_job)-unsafe.Offsetof(charge.PerJob)]
	_ = [1]int{}[unsafe.Offsetof(cCharge.per_node)-unsafe.Offsetof(charge.PerNode)]
	_ = [1]int{}[unsafe.Offsetof(cCharge.per_core)-unsafe.Offsetof(charge.PerCore)]
	_ = [1]int{}[unsafe.Offsetof(cCharge.per_gpu)-unsafe.Offsetof(charge.PerGPU)]

	_ = [1]int{}[C.AUCSCHED_ABI-engine.ABI]
	_ = [1]int{}[C.AUCSCHED_MAX_QUOTAS-engine.MaxQuotas]
	_ = [1]int{}[C.AUCSCHED_MAX_CHARGE-bids.MaxRate]
	_ = [1]int{}[C.AUCSCHED_WAITS_QUOTA-engine.WaitsQuota]
	_ = [1]int{}[C.AUCSCHED_MAX_RESOURCES-engine.MaxResources]
	_ = [1]int{}[C.AUCSCHED_MAX_CLASS-engine.MaxClass]
	_ = [1]int{}[C.AUCSCHED_MAX_NODES-engine.MaxNodes]
	_ = [1]int{}[C.AUCSCHED_MAX_JOBS-engine.MaxJobs]
	_ = [1]int{}[C.AUCSCHED_MAX_ALTERNATIVES-engine.MaxAlternatives]
	_ = [1]int{}[C.AUCSCHED_MAX_FILE-engine.MaxFile]
	_ = [1]int{}[C.AUCSCHED_MAX_PRIORITY-engine.MaxPriority]
	_ = [1]int{}[C.AUCSCHED_NO_LIMIT-engine.NoLimit]
	_ = [1]int{}[C.AUCSCHED_NO_SWITCH-engine.NoSwitch]
	_ = [1]int{}[C.AUCSCHED_ROOT-engine.Root]
	_ = [1]int{}[C.AUCSCHED_CONTIGUOUS-engine.Contiguous]
	_ = [1]int{}[C.AUCSCHED_STARTS-engine.Starts]
	_ = [1]int{}[C.AUCSCHED_WAITS_FIT-engine.WaitsFit]
	_ = [1]int{}[C.AUCSCHED_WAITS_LOST-engine.WaitsLost]
	_ = [1]int{}[C.AUCSCHED_WAITS_RESERVED-engine.WaitsReserved]
	_ = [1]int{}[C.AUCSCHED_WAITS_NEVER-engine.WaitsNever]
	_ = [1]int{}[C.AUCSCHED_NOT_LOOKED_AT-engine.NotLookedAt]
	_ = [1]int{}[C.AUCSCHED_TIMED_OUT-engine.TimedOut]
	_ = [1]int{}[C.AUCSCHED_FAULTY-engine.Faulty]
)
