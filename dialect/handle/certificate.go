package handle

import (
	"crypto"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/registrar"
)

// uidAttribute is the object identifier of the attribute UID of a subject (RFC 4519, 2.39).
const uidAttribute = "0.9.2342.19200300.100.1.1"

// certified returns the actor of the identity whose certificate the client has shown in the TLS
// handshake. The subject names the identity: INDEX:HANDLE as UID, otherwise as CN. Who issued the
// certificate does not matter, because its key must be the public key of the identity. It returns
// false if the certificate is not that of an identity.
func (q *request) certified() (a registrar.Actor, ok bool, err error) {
	if q.r.TLS == nil || len(q.r.TLS.PeerCertificates) == 0 {
		return a, false, nil
	}
	cert := q.r.TLS.PeerCertificates[0]
	id := cert.Subject.CommonName
	for _, n := range cert.Subject.Names {
		if text, isText := n.Value.(string); isText && n.Type.String() == uidAttribute {
			id = text
		}
	}
	i := q.identities.Identity(canonicalID(id))
	if i == nil {
		return a, false, nil
	}
	key, isKey := i.PublicKey.(interface {
		Equal(key crypto.PublicKey) bool
	})
	if !isKey || !key.Equal(cert.PublicKey) {
		return a, false, adminapi.ErrUnknownToken
	}
	a, err = q.identities.Actor(q.r.Context(), i)
	return a, err == nil, err
}
