import Crypto
import Foundation

/// The client's side of the handshake `Noise_NNpsk0_25519_ChaChaPoly_SHA256` (The Noise Protocol Framework, revision 34, 5 and 9): both
/// sides know a key, and make new ones for each connection.
struct NoiseHandshake: Sendable {
    /// The bytes of a key, as of a public key of Curve25519.
    static let keySize = 32
    private static let pattern = Array("Noise_NNpsk0_25519_ChaChaPoly_SHA256".utf8)
    private static let prologue = Array("NoiseAPIInit".utf8) + [0, 0]

    private let key: [UInt8]
    private let ephemeral: Curve25519.KeyAgreement.PrivateKey
    private var chaining: [UInt8]
    private var hash: [UInt8]
    private var cipher = NoiseCipher(key: [UInt8](repeating: 0, count: keySize))

    /// A handshake with the key that both sides know, of `keySize` bytes.
    init(key: [UInt8], ephemeral: Curve25519.KeyAgreement.PrivateKey = Curve25519.KeyAgreement.PrivateKey()) {
        (self.key, self.ephemeral) = (key, ephemeral)
        chaining = Array(SHA256.hash(data: Self.pattern))
        hash = chaining
        mix(Self.prologue)
    }

    /// Reads a key in base64; `nil` if it has not `keySize` bytes.
    static func key(_ text: String) -> [UInt8]? {
        Data(base64Encoded: text).flatMap { $0.count == keySize ? Array($0) : nil }
    }

    /// The first message: `psk, e`.
    mutating func opening() throws(WireError) -> [UInt8] {
        let keys = Self.derived(3, from: chaining, key)
        chaining = keys[0]
        mix(keys[1])
        cipher = NoiseCipher(key: keys[2])
        let own = Array(ephemeral.publicKey.rawRepresentation)
        mixPublic(own)
        let sealed = try cipher.seal([], authenticating: hash)
        mix(sealed)
        return own + sealed
    }

    /// Reads the second message: `e, ee`.
    /// - Throws: `wrongKey` if the other side does not have the key.
    mutating func finished(by response: [UInt8]) throws(WireError) -> (send: NoiseCipher, receive: NoiseCipher) {
        let other = Array(response.prefix(Self.keySize))
        let shared: [UInt8]
        do {
            let key = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: other)
            shared = try ephemeral.sharedSecretFromKeyAgreement(with: key).withUnsafeBytes { Array($0) }
        } catch { throw .malformed("its part of the handshake is no key") }
        mixPublic(other)
        mixKey(shared)
        do { _ = try cipher.open(Array(response.dropFirst(Self.keySize)), authenticating: hash) } catch {
            throw .wrongKey
        }
        let keys = Self.derived(2, from: chaining, [])
        return (NoiseCipher(key: keys[0]), NoiseCipher(key: keys[1]))
    }

    private mutating func mix(_ bytes: [UInt8]) { hash = Array(SHA256.hash(data: hash + bytes)) }

    private mutating func mixKey(_ bytes: [UInt8]) {
        let keys = Self.derived(2, from: chaining, bytes)
        chaining = keys[0]
        cipher = NoiseCipher(key: keys[1])
    }

    /// A public key of a handshake with a known key also changes the keys.
    private mutating func mixPublic(_ bytes: [UInt8]) {
        mix(bytes)
        mixKey(bytes)
    }

    /// HKDF as Noise has it (4.3).
    private static func derived(_ count: Int, from chaining: [UInt8], _ input: [UInt8]) -> [[UInt8]] {
        func code(_ key: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
            Array(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: key)))
        }
        let key = code(chaining, input)
        return (1...count).reduce(into: [[UInt8]]()) { keys, number in
            keys.append(code(key, (keys.last ?? []) + [UInt8(number)]))
        }
    }
}

/// A key of one direction, with the number of the next message.
struct NoiseCipher: Sendable {
    private static let tagSize = 16
    private let key: SymmetricKey
    private var number: UInt64 = 0

    init(key: [UInt8]) { self.key = SymmetricKey(data: key) }

    private mutating func nextNonce() throws -> ChaChaPoly.Nonce {
        defer { number &+= 1 }
        return try ChaChaPoly.Nonce(data: [0, 0, 0, 0] + withUnsafeBytes(of: number.littleEndian) { Array($0) })
    }

    mutating func seal(_ bytes: [UInt8], authenticating data: [UInt8] = []) throws(WireError) -> [UInt8] {
        do {
            let box = try ChaChaPoly.seal(bytes, using: key, nonce: nextNonce(), authenticating: data)
            return Array(box.ciphertext + box.tag)
        } catch { throw .malformed("a message cannot be encrypted") }
    }

    mutating func open(_ bytes: [UInt8], authenticating data: [UInt8] = []) throws(WireError) -> [UInt8] {
        do {
            let box = try ChaChaPoly.SealedBox(
                nonce: nextNonce(), ciphertext: bytes.dropLast(Self.tagSize), tag: bytes.suffix(Self.tagSize))
            return Array(try ChaChaPoly.open(box, using: key, authenticating: data))
        } catch { throw .malformed("a message cannot be decrypted") }
    }
}
