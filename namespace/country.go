package namespace

import "github.com/nomen-project/nomen/internal/ascii"

// countries are the officially assigned alpha-2 codes of ISO 3166-1.
const countries = "adaeafagaialamaoaqarasatauawaxazbabbbdbebfbgbhbibjblbmbnbobqbrbsbtbvbwbybz" +
	"cacccdcfcgchcickclcmcncocrcucvcwcxcyczdedjdkdmdodzeceeegeheresetfifjfkfmfofr" +
	"gagbgdgegfggghgiglgmgngpgqgrgsgtgugwgyhkhmhnhrhthuidieiliminioiqirisitjejmjojp" +
	"kekgkhkikmknkpkrkwkykzlalblclilklrlsltlulvlymamcmdmemfmgmhmkmlmmmnmompmqmrmsmtmumvmwmxmymz" +
	"nancnenfngninlnonpnrnunzompapepfpgphpkplpmpnprpsptpwpyqarerorsrurw" +
	"sasbscsdsesgshsisjskslsmsnsosrssstsvsxsysztctdtftgthtjtktltmtntotrtttvtwtz" +
	"uaugumusuyuzvavcvevgvivnvuwfwsyeytzazmzw"

func isCountry(a, b byte) bool {
	a, b = ascii.Lower(a), ascii.Lower(b)
	for i := 0; i < len(countries); i += 2 {
		if countries[i] == a && countries[i+1] == b {
			return true
		}
	}
	return false
}
