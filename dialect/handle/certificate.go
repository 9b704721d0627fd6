package handle

import (
	"crypto"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/dialect"
)

// uidAttribute is the object identifier of the attribute UID of a subject (RFC 4519, 2.39).
const uidAttribute = "0.9.2342.19200300.100.1.1"

// certified returns the identity of a client with a TLS certificate, or nil. The UID in the subject
// of the certificate is the ID of the identity, INDEX:HANDLE. If there is no UID, the CN is used.
// The key of the certificate must be the public key of the identity, so the issuer is not verified.
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
