// SPDX-License-Identifier: BSD-3-Clause

// Package localitylog reads what package locality simulates: the files of the report's authors, and
// traces of jobs that know no files, which get some (section 5.1 of the report).
package localitylog
