// SPDX-License-Identifier: BSD-3-Clause

// Package lines is how two programs of one user talk over a network: JSON messages, one a line,
// over TLS 1.3. Who listens makes an [Invitation], with the hash of its certificate and a secret.
// Who has not got it can neither listen in nor join.
package lines
