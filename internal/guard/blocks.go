package guard

import "net/netip"

// A block is a range of addresses that are not public, with a description of their purpose.
type block struct {
	prefix netip.Prefix
	why    string
}

func find(blocks []block, a netip.Addr) string {
	for _, b := range blocks {
		if b.prefix.Contains(a) {
			return b.why
		}
	}
	return ""
}

var (
	global    = netip.MustParsePrefix("2000::/3")
	nat64     = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour = netip.MustParsePrefix("2002::/16")
)

var blocks4 = [...]block{
	{netip.MustParsePrefix("0.0.0.0/8"), "this host"},                     // RFC 791, 3.2
	{netip.MustParsePrefix("10.0.0.0/8"), "private network"},              // RFC 1918
	{netip.MustParsePrefix("100.64.0.0/10"), "shared by a carrier"},       // RFC 6598
	{netip.MustParsePrefix("127.0.0.0/8"), "loopback"},                    // RFC 1122, 3.2.1.3
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local"},               // RFC 3927
	{netip.MustParsePrefix("172.16.0.0/12"), "private network"},           // RFC 1918
	{netip.MustParsePrefix("192.0.0.0/24"), "protocol assignment"},        // RFC 6890, 2.1
	{netip.MustParsePrefix("192.0.2.0/24"), "for documentation"},          // RFC 5737
	{netip.MustParsePrefix("192.88.99.0/24"), "6to4 relay"},               // RFC 7526
	{netip.MustParsePrefix("192.168.0.0/16"), "private network"},          // RFC 1918
	{netip.MustParsePrefix("198.18.0.0/15"), "for benchmarks"},            // RFC 2544
	{netip.MustParsePrefix("198.51.100.0/24"), "for documentation"},       // RFC 5737
	{netip.MustParsePrefix("203.0.113.0/24"), "for documentation"},        // RFC 5737
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},                   // RFC 5771
	{netip.MustParsePrefix("255.255.255.255/32"), "broadcast"},            // RFC 8190
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved for future purpose"}, // RFC 1112, 4
}

var blocks6 = [...]block{
	{netip.MustParsePrefix("::/128"), "no address"},                // RFC 4291, 2.5.2
	{netip.MustParsePrefix("::1/128"), "loopback"},                 // RFC 4291, 2.5.3
	{netip.MustParsePrefix("64:ff9b:1::/48"), "private network"},   // RFC 8215
	{netip.MustParsePrefix("100::/64"), "discarded"},               // RFC 6666
	{netip.MustParsePrefix("2001::/32"), "Teredo tunnel"},          // RFC 4380
	{netip.MustParsePrefix("2001::/23"), "protocol assignment"},    // RFC 2928
	{netip.MustParsePrefix("2001:db8::/32"), "for documentation"},  // RFC 3849
	{netip.MustParsePrefix("3fff::/20"), "for documentation"},      // RFC 9637
	{netip.MustParsePrefix("5f00::/16"), "segment of one network"}, // RFC 9602
	{netip.MustParsePrefix("fc00::/7"), "private network"},         // RFC 4193
	{netip.MustParsePrefix("fe80::/10"), "link-local"},             // RFC 4291, 2.5.6
	{netip.MustParsePrefix("fec0::/10"), "private network"},        // RFC 3879
	{netip.MustParsePrefix("ff00::/8"), "multicast"},               // RFC 4291, 2.7
}
