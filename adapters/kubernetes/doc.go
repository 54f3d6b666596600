// SPDX-License-Identifier: BSD-3-Clause

// Package kube schedules the pods of a Kubernetes cluster with core.Cluster.
//
// Each round makes a model of the API's objects (package model), and of the model a Cluster. The Cluster
// decides, and Scheduler binds, evicts and reports. A round ends when the informer shows what it did. So a
// round depends on nothing but the objects and what the Cluster before it has learnt, and a new leader
// goes on where the old one ended.
package kube
