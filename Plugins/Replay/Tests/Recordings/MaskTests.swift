import GatewayKit
import Testing

@testable import Recordings

@Suite struct MaskTests {
    private func masked(_ text: String, _ mask: Mask) -> String {
        String(decoding: mask.masking(Array(text.utf8)).bytes, as: UTF8.self)
    }

    @Test(arguments: [
        ("{\"token\":\"geheim-7\"}", "{\"token\":\"********\"}"),
        ("at A4:C1:38:00:11:2f, and a4-c1-38-00-11-2f.", "at 00:00:00:00:00:00, and 00-00-00-00-00-00."),
        ("A4:C1-38:00:11:22 is none", "A4:C1-38:00:11:22 is none"),
        ("a4c13800112f", "000000000000"),
        ("geh", "geh"),
    ]) func `secrets and addresses do not appear`(text: String, expected: String) {
        let mask = Mask(secrets: ["geheim-7", "geh"], addresses: ["A4:C1:38:00:11:2F"])
        #expect(masked(text, mask) == expected)
    }

    @Test func `an address is found as bytes in either order`() {
        let mask = Mask(addresses: ["01:02:03:04:05:06"])
        let found = mask.masking([9, 1, 2, 3, 4, 5, 6, 9, 6, 5, 4, 3, 2, 1])
        #expect(found.bytes == [9, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0])
        #expect(found.masked == [1..<7, 8..<14])
    }

    @Test func `a secret does not appear in whatever pieces it comes`() {
        let text = Array("before geheim-7 between A4:C1:38:00:11:2F after".utf8)
        let address = "before geheim-7 between ".utf8.count
        let expected = ["00", "A0", "A4"].map { "before ******** between \($0):00:00:00:00:00 after" }
        for first in 0...text.count {
            for second in first...text.count {
                var stream = MaskedStream(Mask(secrets: ["geheim-7"]))
                var all = RecordedBytes([])
                for piece in [text[..<first], text[first..<second], text[second...]] {
                    all.append(stream.add(Array(piece)))
                }
                all.append(stream.release())
                let shown = String(decoding: all.bytes, as: UTF8.self)
                // A piece may end behind a digit or two of an address.
                let isCut = [first, second].contains { [address + 1, address + 2].contains($0) }
                #expect(isCut ? expected.contains(shown) : shown == expected[0])
            }
        }
    }

    @Test func `whenever the other side answers within a secret, no more than three letters of it appear`() {
        let secret = Array("geheim-7".utf8)
        // Each bit of the number is a place where the other side answers.
        for answers in 1..<(1 << (secret.count - 1)) {
            var stream = MaskedStream(Mask(secrets: ["geheim-7"]))
            var all = RecordedBytes([])
            for (index, byte) in secret.enumerated() {
                all.append(stream.add([byte]))
                if answers & (1 << index) != 0 { all.append(stream.release()) }
            }
            all.append(stream.release())
            #expect(all.bytes.count == secret.count)
            let shown = zip(all.bytes, secret).count { $0 == $1 }
            #expect(shown <= MaskedStream.shownBeginning, "answers at \(String(answers, radix: 2))")
        }
    }

    @Test(arguments: [
        ("token", true), ("apiToken", true), ("WIFI_PASSWORD", true), ("key", true), ("name", true),
        ("serial", true), ("mac_address", true), ("person", true),
        ("monkey", false), ("metric", false), ("next", false), ("user", false), ("page", false), ("", false),
    ]) func `a word of a key decides whether its value may appear`(key: String, isSensitive: Bool) {
        #expect((SensitiveKey.isSecret(key) || SensitiveKey.isIdentity(key)) == isSensitive)
    }

    @Test(arguments: [
        (#"{"method":"login","p":{"token":"ab\"c","at":7}}"#, #"{"method":"login","p":{"token":"*****","at":7}}"#),
        (#"{"pin" : 1234, "value":61}"#, #"{"pin" : 1111, "value":61}"#),
        (#"{"serial":null,"model":"R02"}"#, #"{"serial":null,"model":"R02"}"#),
        (#"{"name":"Anna's ring","a":"name"}"#, #"{"name":"***********","a":"name"}"#),
        (#"{"a":["token","b"],"c":"token:"}"#, #"{"a":["token","b"],"c":"token:"}"#),
        (#"{"to\"ken":"a","\\":"token","x":1}"#, #"{"to\"ken":"a","\\":"token","x":1}"#),
        (#"{"token":{"name":"x"}}"#, #"{"token":{"name":"*"}}"#),
        ("{\"\(String(repeating: "x", count: 65))\":\"a\"}", "{\"\(String(repeating: "x", count: 65))\":\"*\"}"),
        ("{\"\(String(repeating: "x", count: 64))\":\"a\"}", "{\"\(String(repeating: "x", count: 64))\":\"a\"}"),
    ]) func `the value of a sensitive member of JSON does not appear in whatever pieces it comes`(
        line: String, expected: String
    ) {
        let bytes = Array(line.utf8)
        for cut in 0...bytes.count {
            var stream = MaskedStream(Mask())
            var all = stream.add(Array(bytes[..<cut]))
            all.append(stream.add(Array(bytes[cut...])))
            all.append(stream.release())
            #expect(String(decoding: all.bytes, as: UTF8.self) == expected)
            let changed = zip(all.bytes, bytes).enumerated().filter { $1.0 != $1.1 }.map(\.offset)
            #expect(changed.allSatisfy { position in all.masked.contains { $0.contains(position) } })
        }
    }

    @Test func `a line that lacks an end of its text hides no line after it`() {
        var stream = MaskedStream(Mask())
        let all = stream.add(Array("{\"token\":\"abc\n{\"value\":61}\n".utf8))
        #expect(String(decoding: all.bytes, as: UTF8.self) == "{\"token\":\"***\n{\"value\":61}\n")
    }

    @Test func `a configured name is masked, also as JSON escapes it, and a word of small letters is not`() {
        let mask = Mask(names: ["Zoë's \"ring\"", "steps"])
        func stars(_ count: Int) -> String { String(repeating: "*", count: count) }
        #expect(masked("of Zoë's \"ring\": steps", mask) == "of \(stars(13)): steps")
        #expect(masked(#"of Zoë's \"ring\"."#, mask) == "of \(stars(15)).")
        #expect(masked(#"of Zo\u00eb's \"ring\"."#, mask) == "of \(stars(19)).")
    }

    @Test func `an error names no address`() {
        let error = LinkError(.broken, "dev_A4_C1_38_00_11_2F went away")
        #expect(Mask().masking(error).message == "dev_00_00_00_00_00_00 went away")
        #expect(Mask().masking(GATTError.link(error)) == .link(LinkError(.broken, "dev_00_00_00_00_00_00 went away")))
    }
}
