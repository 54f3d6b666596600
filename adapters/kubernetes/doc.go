// SPDX-License-Identifier: BSD-3-Clause

// Package kube schedules the pods of a Kubernetes cluster with core.Cluster.
//
// Each round goes from the API's objects to a model (pods.go, rows.go, nodes.go, jobs.go, quotas.go):
// what the Cluster should be told. Scheduler.tell (sync.go) tells it what differs. The Cluster decides,
// and Scheduler (scheduler.go) binds, evicts and reports (report.go). A round depends on nothing but
// the objects and the pods that are being bound, so that a new leader goes on where the old one ended.
package kube
