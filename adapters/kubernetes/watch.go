// SPDX-License-Identifier: BSD-3-Clause

package kube

import (
	"context"
	"errors"

	"github.com/aucsched/aucsched/adapters/kubernetes/model"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// watch starts the informers, and returns what reads them once they have all that was written before. A
// lister of an informer never fails.
func (s *Scheduler) watch(ctx context.Context) (read func() *model.Objects, err error) {
	var reads []func(*model.Objects)
	var synced []cache.InformerSynced
	add := func(i cache.SharedIndexInformer, read func(*model.Objects)) {
		_, fault := i.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { s.changed() },
			UpdateFunc: func(any, any) { s.changed() }, DeleteFunc: func(any) { s.changed() }})
		err = errors.Join(err, fault)
		synced, reads = append(synced, i.HasSynced), append(reads, read)
		go i.Run(ctx.Done())
	}
	all := informers.NewSharedInformerFactoryWithOptions(s.Client, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		if o.ResourceVersion == "0" { // any version: a leader before may have bound pods since that one
			o.ResourceVersion = ""
		}
	}))
	nodes, pods, budgets := all.Core().V1().Nodes(), all.Core().V1().Pods(), all.Policy().V1().PodDisruptionBudgets()
	add(nodes.Informer(), func(o *model.Objects) { o.Nodes, _ = nodes.Lister().List(labels.Everything()) })
	add(pods.Informer(), func(o *model.Objects) { o.Pods, _ = pods.Lister().List(labels.Everything()) })
	add(budgets.Informer(), func(o *model.Objects) { o.Budgets, _ = budgets.Lister().List(labels.Everything()) })
	if s.QuotaName != "" {
		one := informers.NewSharedInformerFactoryWithOptions(s.Client, 0, informers.WithNamespace(s.Namespace),
			informers.WithTweakListOptions(func(o *metav1.ListOptions) {
				o.FieldSelector = fields.OneTermEqualSelector("metadata.name", s.QuotaName).String()
			})).Core().V1().ConfigMaps()
		add(one.Informer(), func(o *model.Objects) {
			m, err := one.Lister().ConfigMaps(s.Namespace).Get(s.QuotaName)
			o.Quotas = s.readQuotas(m, err == nil)
		})
	}
	if s.Dynamic != nil {
		groups := dynamicinformer.NewDynamicSharedInformerFactory(s.Dynamic, 0).ForResource(PodGroups)
		add(groups.Informer(), func(o *model.Objects) {
			o.Groups = make(map[string]int)
			list, _ := groups.Lister().List(labels.Everything())
			for _, x := range list {
				g := x.(*unstructured.Unstructured)
				if n, ok, _ := unstructured.NestedInt64(g.Object, "spec", "minMember"); ok {
					o.Groups[g.GetNamespace()+"/"+g.GetName()] = int(n)
				}
			}
		})
	}
	if err != nil || !cache.WaitForCacheSync(ctx.Done(), synced...) {
		return nil, errors.Join(err, ctx.Err())
	}
	s.shown = pods.Informer().GetStore()
	return func() *model.Objects {
		o := new(model.Objects)
		for _, read := range reads {
			read(o)
		}
		return o
	}, nil
}

// readQuotas are the quotas of a ConfigMap, if it is there. Until it can be read those of before hold.
func (s *Scheduler) readQuotas(m *v1.ConfigMap, there bool) model.Quotas {
	if !there {
		s.quotas, s.quotasOf = model.Quotas{}, ""
	} else if text := m.Data["quotas.yaml"]; s.quotasOf != text {
		s.quotasOf = text
		if q, err := model.ReadQuotas(text); err != nil {
			s.Events.Eventf(m, v1.EventTypeWarning, "InvalidQuotas", "%v", err)
		} else {
			s.quotas = q
		}
	}
	return s.quotas
}
