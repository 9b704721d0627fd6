package extra

import (
	"strings"
	"testing"

	"github.com/nomen-project/nomen/uri"
)

func TestServers(t *testing.T) {
	for _, tt := range []sample{
		{"postgresql://localhost:5432/mydb?sslmode=require", "host=localhost port=5432 path=/mydb query=sslmode=require", "postgresql://localhost/mydb?sslmode=require", ""},
		{"postgres:///mydb?host=localhost", "host= path=/mydb query=host=localhost", "", ""},
		{"postgresql://user:secret@localhost", "user=user password=secret host=localhost path=", "", "17 RFC 3986, 3.2.1"},
		{"postgresql://h/d?user=a&password=b", "host=h path=/d query=user=a&password=b", "", "24 RFC 3986, 3.2.1"},
		{"postgresql:mydb", "", "", "11 RFC 3986, 3: hier-part"},
		{"mysql://u@h:3306/d", "user=u host=h port=3306 path=/d", "mysql://u@h/d", ""},
		{"mysql:///d", "host= path=/d", "", ""},
		{"mysql:d", "", "", "6 RFC 3986, 3: hier-part"},
		{"mongodb:///d", "", "", "10 RFC 3986, 3.2.2: host"},
		{"mongodb+srv://server.example.com/?w=majority", "host=server.example.com path=/ query=w=majority", "", ""},
		{"mongodb+srv://server.example.com:27017/", "", "", "32 MongoDB, Initial DNS Seedlist Discovery"},
		{"redis://:p@h:6379/0", "user= password=p host=h port=6379 path=/0", "redis://:p@h/0", "8 RFC 3986, 3.2.1"},
		{"rediss://h/cache", "host=h path=/cache", "", "10 IANA registration of redis"},
		{"amqps://h:5671/a%2Fb", "host=h port=5671 path=/a%2Fb", "amqps://h/a%2Fb", ""},
		{"amqp://h/a/b", "", "", "10 RabbitMQ, URI Specification: amqp_URI"},
		{"rtsp://example.com:554/foo/bar/baz.rm#t=10", "host=example.com port=554 path=/foo/bar/baz.rm fragment=t=10", "rtsp://example.com/foo/bar/baz.rm#t=10", ""},
		{"rtspu:h", "", "", "6 RFC 3986, 3.2.2: host"},
		{"vnc://h:5900?VncPassword=x", "host=h port=5900 path= query=VncPassword=x", "vnc://h?VncPassword=x", ""},
		{"vnc://?ConnectionName=a", "host= path= query=ConnectionName=a", "", ""},
		{"vnc://h/a", "", "", "7 RFC 7869, ABNF: vnc-uri"},
		{"vnc:h", "", "", "4 RFC 7869, ABNF: vnc-uri"},
		{"gemini://example.org:1965", "host=example.org port=1965 path=", "gemini://example.org/", ""},
		{"gemini://u@h/", "", "", "9 Gemini network protocol specification, 2"},
		{"gemini://h/" + strings.Repeat("a", 1014), "", "", "1024 Gemini network protocol specification, 2"},
		{"mqtts://h:8883", "host=h port=8883 path=", "mqtts://h", ""},
	} {
		tt.check(t)
	}
}

// Check does not allocate for long valid URIs of the schemes in use today.
func TestChecksDoNotAllocate(t *testing.T) {
	for _, in := range []string{
		"tel:863-1234;ext=12;phone-context=+1-914-555;a=b;c=d",
		"sms:+1-510-555-0101,+15105550102;ext=1?body=hello%20there&x=y",
		"geo:48.2010,-16.3695,183;crs=wgs84;u=40.5;a=b",
		"view-source:jar:https://example.org/a.jar!/b",
		"blob:https://example.org/9115d58c-bcda-ff47-86e5-083e9a215304#a",
		"sips:alice@atlanta.example.com:5061;maddr=192.0.2.1;ttl=15;transport=tcp?subject=a&priority=b",
		"acct:juliet%40capulet.example@shoppingsite.example",
		"xmpp://guest@example.com/support@example.com/a?message;subject=b;body=c",
		"ldap://h.example/cn=a+ou=b%5C2C,dc=c?x,y;lang-de?sub?(&(a=b)(!(c=d)))?e=f,g",
		"imap://john;AUTH=*@h.example/a/b;UIDVALIDITY=1/;UID=20/;SECTION=1.2/;PARTIAL=0.1024",
		"imap://h.example/a/;UID=20;EXPIRE=2026-12-12T12:00:00Z;URLAUTH=user+fred:INTERNAL:91354a473744909de610943775f92038",
		"ni://h.example/sha-256-32;f4OxZQ?ct=text/plain",
		"nih:3;532690-57e12f-e2b74b-a07c89-2560a2;f",
		"magnet:?xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a&dn=a&xl=10&tr=b",
		"ssh://git;fingerprint=ssh-dss-c1@example.org:2222/~user/project.git",
		"git+https://example.org/p@v1#egg=p",
		"coap+tcp://h.example/a/b/c?d&e",
		"dns://192.0.2.1/a.b.example%5C.c.?class=CH;type=TXT",
		"dict://u;a@h.example/m:sun:wordnet:soundex:1",
		"snmp://u@h.example/a;800002b8/(1.3.6.1,1.3.6.2).*",
		"z39.50r://h.example/a+b?c;esn=f;rs=marc+sutrs",
		"pkcs11:token=a;object=b;type=cert;slot-id=1?pin-source=file:/c",
		"payto://iban/SOGEDEFFXXX/DE75512108001245126199?amount=EUR:200.0&message=hello",
		"postgresql://u@h.example/d?sslmode=require",
	} {
		u := uri.MustParse(in)
		if found := Catalogue().Check(u); found != nil {
			t.Errorf("Check(%q) = %v", in, found)
		}
		if n := testing.AllocsPerRun(20, func() { Catalogue().Check(u) }); n != 0 {
			t.Errorf("Check(%q): got %v allocations, want 0", in, n)
		}
	}
}
