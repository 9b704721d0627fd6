package handle

import (
	"crypto"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/dialect"
)

// uidAttribute is the object identifier of the attribute UID of a subject (RFC 4519, 2.39).
const uidAttribute = "0.9.2342.19200300.100.1.1"

// certified returns the identity whose certificate the client has shown in the TLS handshake. The
// subject names the identity: INDEX:HANDLE as UID, otherwise as CN. Who issued the certificate does not
// matter, because its key must be the public key of the identity. It returns nil if the certificate is
// not that of an identity.
func (q *request) certified() (*dialect.Identity, error) {
	if q.r.TLS == nil || len(q.r.TLS.PeerCertificates) == 0 {
		return nil, nil
	}
	cert := q.r.TLS.PeerCertificates[0]
	id := cert.Subject.CommonName
	for _, n := range cert.Subject.Names {
		if text, isText := n.Value.(string); isText && n.Type.String() == uidAttribute {
			id = text
		}
	}
	i := q.identity(id)
	if i == nil {
		return nil, nil
	}
	key, isKey := i.PublicKey.(interface {
		Equal(key crypto.PublicKey) bool
	})
	if !isKey || !key.Equal(cert.PublicKey) {
		return nil, adminapi.ErrUnknownToken
	}
	return i, nil
}
