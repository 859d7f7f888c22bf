import GatewayKit
import Recordings
import Testing

@testable import Gateway

@Suite struct DeviceMaskTests {
    private func text(_ text: String) -> ConfigurationValue { ConfigurationValue(.scalar(text, isQuoted: false)) }

    private func map(_ members: KeyValuePairs<String, ConfigurationValue>) -> ConfigurationValue {
        ConfigurationValue(.map(members.map { (ConfigurationKey($0.key), $0.value) }))
    }

    @Test(arguments: [
        ("of the file: from-a-file", "of the file: ***********"), ("hunter22", "********"), ("1234-pin", "********"),
        ("Anna's Band", "***********"), ("Ben's", "*****"), ("a4c13800112f A4C13800112F", "000000000000 000000000000"),
        ("band steps anna exec", "band steps anna exec"),
    ]) func `what an entry calls secret or a name does not appear, and the rest does`(said: String, shown: String) {
        let entry = map([
            "id": text("band"), "name": text("Anna's Band"), "person": text("anna"),
            "people": map(["1": text("Ben's")]),
            "transport": map(["type": text("exec"), "address": text("A4:C1:38:00:11:2F")]),
            "options": map([
                "api_token": text("hunter22"), "pins": text("unseen"),
                "pin": ConfigurationValue(.list([text("1234-pin")])),
            ]),
        ])
        let mask = Mask(entry: entry, contents: [Secret("from-a-file")])
        #expect(String(decoding: mask.masking(Array(said.utf8)).bytes, as: UTF8.self) == shown)
    }
}
