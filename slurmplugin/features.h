/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A choice of features, any one of which all nodes of a job must have: plain string work. */
#ifndef AUC_FEATURES_H
#define AUC_FEATURES_H

#include <stdint.h>

/*
 * "[a|b|c]": all nodes have the same one of these features.
 * RET how many there are; 0: it is no such text
 */
extern uint8_t auc_one_of_features(const char *features);

/* The name of number i of them. xfree() */
extern char *auc_feature_of(const char *features, int i);

#endif
