import Crypto
import Foundation

/// The proxy's side of the encryption, written from the specification of Noise, with nothing of the plugin's.
struct FakeNoise {
    private var chaining: Data
    private var hash: Data
    private var handshakeKey = SymmetricKey(size: .bits256)
    private var (sendKey, receiveKey) = (SymmetricKey(size: .bits256), SymmetricKey(size: .bits256))
    private var (sent, received): (UInt64, UInt64) = (0, 0)

    struct WrongKey: Error {}

    init() {
        chaining = Data(SHA256.hash(data: Data("Noise_NNpsk0_25519_ChaChaPoly_SHA256".utf8)))
        hash = chaining
        mixHash(Data("NoiseAPIInit\0\0".utf8))
    }

    private mutating func mixHash(_ data: Data) { hash = Data(SHA256.hash(data: hash + data)) }

    private mutating func derive(_ input: Data) -> (Data, Data) {
        let secret = SymmetricKey(
            data: HMAC<SHA256>.authenticationCode(for: input, using: SymmetricKey(data: chaining)))
        chaining = Data(HMAC<SHA256>.authenticationCode(for: Data([1]), using: secret))
        let second = Data(HMAC<SHA256>.authenticationCode(for: chaining + [2], using: secret))
        return (second, Data(HMAC<SHA256>.authenticationCode(for: second + [3], using: secret)))
    }

    private mutating func mixKey(_ data: Data) { handshakeKey = SymmetricKey(data: derive(data).0) }

    private static func nonce(_ number: UInt64) throws -> ChaChaPoly.Nonce {
        try ChaChaPoly.Nonce(data: Data(count: 4) + withUnsafeBytes(of: number.littleEndian) { Data($0) })
    }

    private static func open(_ data: Data, _ key: SymmetricKey, _ number: UInt64, _ hash: Data = Data()) throws -> Data
    {
        let box = try ChaChaPoly.SealedBox(
            nonce: nonce(number), ciphertext: data.dropLast(16), tag: data.suffix(16))
        return try ChaChaPoly.open(box, using: key, authenticating: hash)
    }

    private static func seal(_ data: Data, _ key: SymmetricKey, _ number: UInt64, _ hash: Data = Data()) throws -> Data
    {
        let box = try ChaChaPoly.seal(data, using: key, nonce: nonce(number), authenticating: hash)
        return box.ciphertext + box.tag
    }

    /// Answers the client's part of the handshake with the proxy's.
    mutating func answer(_ part: [UInt8], psk: [UInt8]) throws -> [UInt8] {
        let (other, tag) = (Data(part.prefix(32)), Data(part.dropFirst(32)))
        let keys = derive(Data(psk))
        mixHash(keys.0)
        mixHash(other)
        mixKey(other)
        guard let empty = try? Self.open(tag, handshakeKey, 0, hash), empty.isEmpty else { throw WrongKey() }
        mixHash(tag)
        let own = Curve25519.KeyAgreement.PrivateKey()
        let ownPublic = Data(own.publicKey.rawRepresentation)
        mixHash(ownPublic)
        mixKey(ownPublic)
        let shared = try own.sharedSecretFromKeyAgreement(with: .init(rawRepresentation: other))
        mixKey(shared.withUnsafeBytes { Data($0) })
        let sealed = try Self.seal(Data(), handshakeKey, 0, hash)
        let first = derive(Data())
        (receiveKey, sendKey) = (SymmetricKey(data: chaining), SymmetricKey(data: first.0))
        return Array(ownPublic + sealed)
    }

    mutating func open(_ body: [UInt8]) throws -> [UInt8] {
        defer { received += 1 }
        return Array(try Self.open(Data(body), receiveKey, received))
    }

    mutating func seal(_ bytes: [UInt8]) throws -> [UInt8] {
        defer { sent += 1 }
        return Array(try Self.seal(Data(bytes), sendKey, sent))
    }
}
