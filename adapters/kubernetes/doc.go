// SPDX-License-Identifier: BSD-3-Clause

// Package kube schedules the pods of a Kubernetes cluster with core.Cluster.
//
// Each round makes a model of the API's objects (pods.go, rows.go, nodes.go, jobs.go, quotas.go), and of
// the model a Cluster (model.go). The Cluster decides, and Scheduler (scheduler.go) binds, evicts and
// reports (report.go). A round depends on nothing but the objects, the pods that are being bound, and
// what the Cluster before it has learnt, so that a new leader goes on where the old one ended.
package kube
