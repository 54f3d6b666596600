// SPDX-License-Identifier: BSD-3-Clause

package crew

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"net"
	"strings"
	"time"
)

// Variable is the environment variable with the invitation.
const Variable = "AUCSCHED_CREW"

// An Invitation is what a member needs to join a lead.
type Invitation struct {
	// Address is the lead's, HOST:PORT.
	Address string
	// Certificate is the SHA-256 of the lead's certificate, Secret what members show.
	Certificate, Secret [sha256.Size]byte
}

// String is the form that ParseInvitation reads.
func (i Invitation) String() string {
	return fmt.Sprintf("%s/%x/%x", i.Address, i.Certificate, i.Secret)
}

// ParseInvitation reads what String has written. Its errors don't have the secret.
func ParseInvitation(text string) (i Invitation, err error) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 {
		return i, fmt.Errorf("%s: must be HOST:PORT/CERTIFICATE/SECRET", Variable)
	}
	if _, _, err := net.SplitHostPort(parts[0]); err != nil {
		return i, fmt.Errorf("%s: %w", Variable, err)
	}
	i.Address = parts[0]
	for k, to := range []*[sha256.Size]byte{&i.Certificate, &i.Secret} {
		b, err := hex.DecodeString(parts[k+1])
		if err != nil || len(b) != len(to) {
			return Invitation{}, fmt.Errorf("%s: part %d is not %d bytes in hexadecimal", Variable, k+2, len(to))
		}
		copy(to[:], b)
	}
	return i, nil
}

// invite makes a certificate and a secret for one run.
func invite() (tls.Certificate, Invitation, error) {
	var i Invitation
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, i, err
	}
	now := time.Now()
	form := x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(10, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, &form, &form, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, i, err
	}
	i.Certificate = sha256.Sum256(der)
	_, err = rand.Read(i.Secret[:])
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, i, err
}

// errStranger means that who answers is not who has invited.
var errStranger = errors.New("the lead has another certificate than the invitation says")

// dialled has TLS for the member's side: the certificate is the one that was invited by.
func (i Invitation) dialled() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // by names and authorities; it is compared as a whole
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 || sha256.Sum256(s.PeerCertificates[0].Raw) != i.Certificate {
				return errStranger
			}
			return nil
		},
	}
}

// shows reports whether text is the secret.
func (i Invitation) shows(text string) bool {
	return subtle.ConstantTimeCompare([]byte(text), []byte(hex.EncodeToString(i.Secret[:]))) == 1
}
